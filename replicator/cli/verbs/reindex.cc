// `lockstep reindex`: gives an index a new mapping or another view by a second one next to it, which takes
// its place. The service does the work; this command starts it, watches it and orders its steps. The captures
// for another view are made and dropped here, since the service has no right to.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>

#include "replicator/cli/options/chosen_indices.h"
#include "replicator/cli/options/duration_option.h"
#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/options/rate_option.h"
#include "replicator/cli/options/yes_option.h"
#include "replicator/cli/text/plan_text.h"
#include "replicator/cli/text/progress_line.h"
#include "replicator/cli/text/reindex_forecast.h"
#include "replicator/cli/text/status_text.h"
#include "replicator/cli/verb.h"
#include "replicator/cli/verbs/reindex_watch.h"
#include "replicator/config/mapping_file.h"
#include "replicator/config/text_file.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/disk_space.h"
#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/error.h"
#include "replicator/log/log_command.h"
#include "replicator/pipeline/deployment.h"
#include "replicator/pipeline/leadership.h"
#include "replicator/pipeline/reindex_orders.h"
#include "replicator/quantity.h"
#include "replicator/service/readable.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

std::string text_of(const std::string& file) {
  const std::variant<std::string, TextFault> read = read_text_file(file, Pipes::kRead);
  if (const auto* const fault = std::get_if<TextFault>(&read))
    throw UsageError(fault->what + "; " + fault->remedy);
  const std::string& text = std::get<std::string>(read);
  if (const auto fault = mapping_fault(file, text)) throw UsageError(fault->what + "; " + fault->remedy);
  return text;
}

class ReindexVerb final : public Verb {
 public:
  const char* name() const override { return "reindex"; }
  const char* summary() const override { return "Change an index's mapping or view without downtime"; }
  const char* example() const override {
    return "lockstep reindex -c shop.toml --dry-run\nlockstep reindex -c shop.toml products --keep 2d\n"
           "lockstep reindex -c shop.toml products --back";
  }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    pipeline_.add_owner_to(options);
    options.option("ALIAS", aliases_,
                   "The indices; default: those whose mapping file or view needs a new one");
    add_duration(
        options, "--keep", keep_,
        "How long the other index is followed afterwards, so that --back loses nothing; a number alone is "
        "seconds");
    const Option max_rate = options
                                .option("--max-rate", max_rate_text_,
                                        "Documents a second that are written or compared at most; 0: no "
                                        "limit. Given again while it is "
                                        "under way, it changes that")
                                .value_name("N");
    options.option("--mapping", mapping_, "A mapping file to try instead of the configured one")
        .value_name("FILE");
    const Option dry_run = options.flag("--dry-run", dry_run_, "Print the effects, and change nothing");
    Option back = options.flag("--back", back_, "Point the alias to the other index again");
    Option finish = options.flag("--finish", finish_, "Delete the other index now");
    Option abort = options.flag("--abort", abort_,
                                "Cancel a reindex whose alias has not moved yet, or end a failed one");
    yes_.add_to(options, YesOption::WithoutTerminal::kRefuse, "With --finish: ");
    options.flag("--json", json_, "With --dry-run: print one JSON object");
    back.excludes(finish).excludes(abort).excludes(dry_run).excludes(max_rate);
    finish.excludes(abort).excludes(dry_run).excludes(max_rate);
    abort.excludes(dry_run).excludes(max_rate);
    options.flag("--force", force_, "Move the alias although documents are refused, or it was moved by hand");
  }

  ExitCode run() override {
    const Config config = pipeline_.load();
    const std::chrono::milliseconds keep = duration_of("--keep", keep_);
    if (finish_) yes_.require_answer("reindex --finish asks before it deletes an index");
    if (max_rate_text_) max_rate_ = max_rate_of("--max-rate", *max_rate_text_);
    if (json_ && !dry_run_)
      throw UsageError("--json: it is for --dry-run; `lockstep status --json` shows reindexes");
    const std::unique_ptr<Source> source = open_source(config, "reindex");
    const AppliedPipeline pipeline = load_applied(config, *source);
    if (back_ || finish_ || abort_) return ask(config, pipeline, source->reindexes());
    definition_ = open_source_definition(config);
    return start(config, pipeline, *source, std::chrono::ceil<std::chrono::seconds>(keep));
  }

 private:
  // --- a new one ---

  ExitCode start(const Config& config, const AppliedPipeline& pipeline, Source& source,
                 std::chrono::seconds keep) {
    ElasticsearchClient elasticsearch(make_transport_factory(config.elasticsearch)(),
                                      config.elasticsearch.request_timeout);
    const auto fields = definition_->document_fields();
    const auto differences = definition_->definition_differences();
    redefined_ = redefined_aliases(differences);
    const std::vector<std::string> altered = definition_->altered_aliases();
    altered_ = {altered.begin(), altered.end()};
    if (mapping_ && aliases_.size() != 1)
      throw UsageError("--mapping: name the one index that it is for: lockstep reindex ALIAS --mapping FILE");
    chosen_indices(pipeline, aliases_);         // throws for an unknown one
    std::map<std::string, std::string> before;  // real index by alias
    std::vector<ReindexForecast> forecasts;
    for (const IndexConfig& index : config.indices) {
      const bool is_named = std::find(aliases_.begin(), aliases_.end(), index.alias) != aliases_.end();
      if (!aliases_.empty() && !is_named) continue;
      const std::string file = mapping_.value_or(index.mapping.string());
      const std::string text = mapping_ ? text_of(*mapping_) : index.mapping_json;
      DesiredIndex desired{index.alias, index.view, parse_mapping(file, text), config.pipeline,
                           pipeline.identity};
      if (is_named && !dry_run_) {
        const std::optional<Reindex> known = reindex_of(source.reindexes(), index.alias);
        if (known && known->state != ReindexState::kFailed) {
          // Its alias may be anywhere, or gone: the purpose of --force.
          before[index.alias] = known->live_name;
          start(source.reindexes(), {index.alias, text, keep, max_rate_.value_or(std::nullopt)});
          continue;
        }
      }
      if (const auto known = differences.find(index.alias); known != differences.end())
        desired.documents = to_mapping_differences(known->second);
      const IndexPlan plan = plan_reindex(elasticsearch, desired);
      if (!is_named && plan.kind != IndexPlan::Kind::kReindex) continue;
      require_fit(elasticsearch, desired, fields);
      if (dry_run_) {
        forecasts.push_back(forecast(elasticsearch, plan, source, keep));
      } else {
        if (!plan.other_aliases.empty())
          std::cerr << index.alias << ": " << other_aliases_text(plan.other_aliases) << '\n';
        log_command("reindex", config.pipeline);
        start(source.reindexes(), {index.alias, text, keep, max_rate_.value_or(std::nullopt)});
      }
      before[index.alias] = plan.index;
    }
    if (json_) {
      std::cout << forecasts_json(forecasts) << '\n';
      return ExitCode::kDone;
    }
    for (const ReindexForecast& forecast : forecasts) std::cout << forecast_text(forecast);
    if (before.empty())
      std::cout
          << "nothing to do: no mapping file and no view needs a new index; name an alias to reindex it "
             "anyway\n";
    if (before.empty() || dry_run_) return ExitCode::kDone;
    ReindexWatch watch(config, ReindexWatch::Of::kNew);
    for (const auto& [alias, index] : before) {
      const ReindexWatch::End ended = watch.until(alias, [](const ReindexStatus& reindex) {
        return reindex.state == name_of(ReindexState::kKept) && reindex.keep.count() > 0;
      });
      report(elasticsearch, alias, index, ended);
    }
    return ExitCode::kDone;
  }

  static void require_fit(ElasticsearchClient& elasticsearch, const DesiredIndex& desired,
                          const std::map<std::string, std::vector<std::string>>& fields) {
    if (const auto problem = validate_mapping(elasticsearch, desired.alias, desired.mapping))
      throw UsageError("Elasticsearch refuses the mapping of " + desired.alias + ": " + *problem);
    const auto known = fields.find(desired.alias);
    if (known == fields.end()) return;
    if (const auto refusal = refusal_of_fields(desired, known->second))
      throw UsageError(refusal->problem + "; " + refusal->remedy);
  }

  ReindexForecast forecast(ElasticsearchClient& elasticsearch, const IndexPlan& plan, Source& source,
                           std::chrono::seconds keep) const {
    ReindexForecast forecast;
    forecast.alias = plan.alias;
    forecast.index = plan.index;
    forecast.changes = plan.changes;
    forecast.other_aliases = plan.other_aliases;
    forecast.documents = elasticsearch.count(plan.alias);
    forecast.bytes_of_copy = elasticsearch.average_stored_size(plan.alias).value_or(0) * forecast.documents;
    forecast.needed = stored_bytes(elasticsearch, plan.index);
    forecast.disks = disks_of_nodes(elasticsearch);
    forecast.keep = keep;
    forecast.max_rate = max_rate_.value_or(std::nullopt);
    for (const AppliedIndex& index : source.pipeline().indices) {
      if (index.alias != plan.alias) continue;
      forecast.filled = source.reindexes().pace(index.id, JobKind::kBackfill);
      forecast.compared = source.reindexes().pace(index.id, JobKind::kComparison);
    }
    return forecast;
  }

  // With those that `apply` would refuse, even if an older Lockstep has stored no definition: starting
  // reports it.
  std::set<std::string> redefined_aliases(
      const std::map<std::string, std::vector<DefinitionDifference>>& differences) const {
    const std::vector<std::string> aliases = definition_->redefined_aliases();
    std::set<std::string> redefined(aliases.begin(), aliases.end());
    for (const auto& [alias, found] : differences) {
      for (const DefinitionDifference& difference : found) {
        if (difference.way == DefinitionDifference::Way::kNewIndex) redefined.insert(alias);
      }
    }
    return redefined;
  }

  void start(Reindexes& reindexes, const WantedReindex& wanted) const {
    const bool is_redefined = redefined_.contains(wanted.alias);
    const bool takes_definition = is_redefined || altered_.contains(wanted.alias);
    const bool is_new =
        order_reindex(reindexes, {wanted, is_redefined, max_rate_, force()}, [&](const WantedReindex& order) {
          return takes_definition ? definition_->start_reindex(order, progress()) : reindexes.start(order);
        });
    if (!is_new)
      std::cerr << "a reindex of " << wanted.alias << " is under way already" << limit_text() << '\n';
  }

  /// The new limit of one that is under way.
  std::string limit_text() const {
    if (!max_rate_) return "";
    if (!*max_rate_) return "; it has no limit from now on";
    return "; from now on it writes and compares at most " + grouped(**max_rate_) + " documents a second";
  }

  static void report(ElasticsearchClient& elasticsearch, const std::string& alias, const std::string& before,
                     const ReindexWatch::End& ended) {
    if (ended.kind == ReindexWatch::End::Kind::kSo) {
      std::cout << alias << " points to " << ended.status.live << "; " << ended.status.beside
                << " is followed for " << readable_left(ended.status.keep) << ": `lockstep reindex --back "
                << alias << "` moves the alias back\n";
      return;
    }
    const std::vector<IndexState> at = elasticsearch.indices_of(alias);
    if (at.size() != 1 || at.front().name == before)
      throw Error({"reindexing " + alias, "it was taken back meanwhile", "find out why, and start it again"});
    std::cout << alias << " points to " << at.front().name << '\n';
  }

  // --- one that exists ---

  ExitCode ask(const Config& config, const AppliedPipeline& pipeline, Reindexes& reindexes) {
    chosen_indices(pipeline, aliases_);  // throws for an unknown one
    const ReindexWish wish = back_     ? ReindexWish::kBack
                             : finish_ ? ReindexWish::kFinish
                                       : ReindexWish::kAbort;
    const std::vector<Reindex> asked = reindexes_for(reindexes, wish, aliases_);
    if (finish_ && !confirm_deletion(asked)) return ExitCode::kFailed;
    ReindexWatch watch(config, ReindexWatch::Of::kWish);
    log_command(back_ ? "reindex --back" : finish_ ? "reindex --finish" : "reindex --abort", config.pipeline);
    bool has_own_definition = false;
    for (const Reindex& reindex : asked) {
      has_own_definition |= reindex.has_own_definition;
      reindexes.want(reindex.id, wish, force());
    }
    for (const Reindex& reindex : asked) {
      const ReindexWatch::End ended = watch.until(
          reindex.alias, [&](const ReindexStatus& now) { return back_ && now.live != reindex.live_name; });
      switch (ended.kind) {
        case ReindexWatch::End::Kind::kUnled:
          std::cout << "the request is stored, and takes effect when `lockstep run` leads the pipeline: "
                    << ended.reason << '\n';
          return ExitCode::kDone;
        case ReindexWatch::End::Kind::kOver:
          std::cout << "the reindex of " << reindex.alias << " is over\n";
          break;
        case ReindexWatch::End::Kind::kSo:
          std::cout << reindex.alias << " points to " << ended.status.live;
          if (ended.status.state == name_of(ReindexState::kKept))
            std::cout << "; " << ended.status.beside << " is followed for "
                      << readable_left(ended.status.keep);
          std::cout << '\n';
          break;
      }
    }
    if (has_own_definition && !back_) drop_unneeded(config);
    return ExitCode::kDone;
  }

  bool confirm_deletion(const std::vector<Reindex>& finished) const {
    if (!yes_.asks()) return true;
    std::string indices;
    for (const Reindex& reindex : finished)
      indices += (indices.empty() ? "" : ", ") +
                 (reindex.beside_name.empty() ? "the other index of " + reindex.alias : reindex.beside_name);
    return yes_.confirms("Delete " + indices + "? There is no way back to it then.");
  }

  // Captures that only the other view needed. The reindex is over all the same if the user has no right to
  // drop them.
  static void drop_unneeded(const Config& config) {
    try {
      open_source_definition(config)->drop_unneeded(progress());
    } catch (const Error& error) {
      std::cerr << error.what()
                << "\nwhat only the other view needed is left in the database: `lockstep apply` drops it\n";
    }
  }

  static SourceDefinition::Progress progress() {
    SourceDefinition::Progress progress;
    progress.step = [](const PlanStep& step) { std::cerr << step_text(step, Sql::kHidden); };
    progress.waiting = [](const std::string& why) { std::cerr << why << '\n'; };
    return progress;
  }

  Reindexes::Force force() const { return force_ ? Reindexes::Force::kYes : Reindexes::Force::kNo; }

  PipelineOption pipeline_;
  std::unique_ptr<SourceDefinition> definition_;  // for a new one
  std::set<std::string> redefined_;               // aliases whose new index has another view or other tracks
  std::set<std::string> altered_;                 // whose view has changed since the last apply
  std::vector<std::string> aliases_;
  std::string keep_ = "7d";
  std::optional<std::string> mapping_;
  std::optional<std::string> max_rate_text_;
  std::optional<std::optional<std::int64_t>> max_rate_;  // given: none is no limit
  YesOption yes_;
  bool json_ = false;
  bool dry_run_ = false;
  bool back_ = false;
  bool finish_ = false;
  bool abort_ = false;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_reindex_verb() {
  return std::make_unique<ReindexVerb>();
}

}  // namespace lockstep
