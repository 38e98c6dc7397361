// `lockstep adopt`: takes over indices that another program, or a lost installation, has filled. Looks first,
// then works like `apply`; the service writes the differing documents.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/options/yes_option.h"
#include "replicator/cli/text/difference_text.h"
#include "replicator/cli/text/json_text.h"
#include "replicator/cli/text/plan_text.h"
#include "replicator/cli/text/progress_line.h"
#include "replicator/cli/verb.h"
#include "replicator/cli/verbs/both_sides.h"
#include "replicator/elasticsearch/admin/adoption.h"
#include "replicator/error.h"
#include "replicator/log/log_command.h"
#include "replicator/pipeline/foreign_writes.h"
#include "replicator/pipeline/repair/survey.h"
#include "replicator/quantity.h"
#include "replicator/service/rate_meter.h"

namespace lockstep {
namespace {

using Kind = IndexPlan::Kind;

std::string kind_text(const char* kind, std::int64_t count, const std::vector<FoundDocument>& examples) {
  if (count == 0) return "";
  std::string ids;
  for (const FoundDocument& example : examples)
    ids += (ids.empty() ? "" : ", ") + json_string(example.id.text);
  const bool is_all = static_cast<std::int64_t>(examples.size()) == count;
  return "  " + grouped(count) + " " + kind + ": " + ids + (is_all ? "" : ", …") + "\n";
}

/// The fields that documents of the index may have and the view does not give.
std::string foreign_fields(const IndexState& index, const std::vector<std::string>& of_view) {
  std::string fields;
  const auto properties = index.mappings.find("properties");
  if (properties == index.mappings.end()) return fields;
  for (const auto& field : properties->items()) {
    const bool is_known = std::find(of_view.begin(), of_view.end(), field.key()) != of_view.end();
    if (!is_known) fields += (fields.empty() ? "" : ", ") + field.key();
  }
  return fields;
}

class Adopt final : public Verb {
 public:
  const char* name() const override { return "adopt"; }
  const char* summary() const override { return "Take over an index that something else has filled"; }
  const char* example() const override {
    return "lockstep adopt -c shop.toml products --dry-run\nlockstep adopt -c shop.toml products";
  }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    pipeline_.add_owner_to(options);
    options
        .option("ALIAS", aliases_,
                "The names that searches use: aliases of those indices, or their own names")
        .required();
    options.flag("--dry-run", dry_run_, "Compare the documents, print the effects, and change nothing");
    options.flag("--delete-surplus", delete_surplus_, "Delete the documents that the view does not have");
    options.flag("--list", list_, "Print a line for each document that differs");
    yes_.add_to(options, YesOption::WithoutTerminal::kRefuseDeletion, "--delete-surplus");
  }

  ExitCode run() override {
    const Config config = pipeline_.load();
    if (delete_surplus_ && !dry_run_)
      yes_.require_answer("adopt --delete-surplus asks before it deletes documents");
    for (const std::string& alias : aliases_) require_configured(config, alias);
    BothSides sides(config, {aliases_.begin(), aliases_.end()});
    const DeploymentPlan plan = sides.deployment.plan();
    std::vector<IndexPlan> named;
    std::ranges::copy_if(plan.indices, std::back_inserter(named), [&](const IndexPlan& index) {
      return std::ranges::count(aliases_, index.alias) > 0;
    });
    // Obstacles of other indices do not matter for a mark.
    const bool needs_marks =
        std::ranges::all_of(named, [&](const IndexPlan& index) { return has_lost_mark(index, sides); });
    if (!plan.obstacles.empty() && !needs_marks) {
      for (const Finding& obstacle : plan.obstacles) std::cerr << finding_text(obstacle);
      name_others(plan);
      return ExitCode::kFailed;
    }
    std::vector<IndexPlan> taken;
    for (const IndexPlan& own : named) {
      if (own.kind == Kind::kCreate) {
        throw UsageError("there is no index " + own.alias +
                         " to adopt, nor an alias of that name; `lockstep apply` makes a new one");
      }
      if (own.kind != Kind::kAdopt) {
        std::cout << "nothing to do: " << own.index << " is lockstep's already\n";
        if (!dry_run_) let_in(sides, own.alias);
        continue;
      }
      if (!own.taken_from.empty() && !dry_run_)
        yes_.require_answer("adopt asks before it takes an index over from another installation");
      if (!is_adoptable(config, sides, own)) return ExitCode::kDifference;
      taken.push_back(own);
    }
    if (taken.empty()) return ExitCode::kDone;
    for (const IndexPlan& own : taken) {
      if (has_lost_mark(own, sides)) tell_mark(own);
    }
    if (!needs_marks) std::cout << plan_text(plan.steps, Sql::kHidden, colour_of_output()) << std::flush;
    if (dry_run_) return ExitCode::kDone;
    if (!yes_.confirms("Apply this?")) return ExitCode::kFailed;
    log_command("adopt", config.pipeline);
    for (const IndexPlan& own : taken) {
      if (has_lost_mark(own, sides)) sides.deployment.take_back(own.alias);
    }
    if (!needs_marks) {
      sides.deployment.apply(
          {.step = {}, .waiting = [](const std::string& reason) { std::cerr << reason << '\n'; }});
    }
    for (const IndexPlan& own : taken) {
      std::cerr
          << "adopted " << own.alias
          << "; `lockstep run` compares it again and writes the differences, `lockstep verify` proves it\n";
    }
    return ExitCode::kDone;
  }

 private:
  static void require_configured(const Config& config, const std::string& alias) {
    std::string known;
    for (const IndexConfig& index : config.indices) {
      if (index.alias == alias) return;
      known += (known.empty() ? "" : ", ") + index.alias;
    }
    throw UsageError("the configuration has no index \"" + alias + "\"; it has " + known);
  }

  /// The other indices stop the configuration from being applied, and may be as lost as the named ones.
  void name_others(const DeploymentPlan& plan) const {
    std::string all;
    bool has_other = false;
    for (const IndexPlan& index : plan.indices) {
      const bool is_named = std::ranges::count(aliases_, index.alias) > 0;
      if (!is_named && index.kind != Kind::kRefuse) continue;
      all += " " + index.alias;
      has_other = has_other || !is_named;
    }
    if (has_other)
      std::cerr
          << "nothing has been changed; to take the other indices over too, name all at once: `lockstep "
             "adopt"
          << all << "`\n";
  }

  /// Whether this pipeline follows the index already, and only its mark is missing or another's.
  static bool has_lost_mark(const IndexPlan& index, BothSides& sides) {
    const std::vector<std::string> applied = sides.source->applied_aliases();
    return index.kind == Kind::kAdopt && !index.was_cut_off && index.index != index.alias &&
           std::ranges::count(applied, index.alias) > 0;
  }

  static void tell_mark(const IndexPlan& own) {
    std::cout << "  " << own.index << " is followed already, and gets its mark back\n";
    if (!own.taken_from.empty()) {
      std::cout << "  the installation " << own.taken_from
                << " of this pipeline must not follow it any more\n";
    }
    std::cout << std::flush;
  }

  /// Compares it with its view and prints the differences. False: it has documents that would be lost.
  bool is_adoptable(const Config& config, BothSides& sides, const IndexPlan& own) const {
    const Survey found = look(config, sides, own.alias);
    tell(own, sides, found);
    require_something_in_common(own.alias, found);
    // An index made by Lockstep has nothing but former contents of the view.
    const bool is_made_by_lockstep =
        has_lost_mark(own, sides) && own.taken_from.empty() && generation_number(own.alias, own.index) > 0;
    if (found.surplus == 0 || delete_surplus_ || is_made_by_lockstep) return true;
    std::cerr << "nothing was changed: " << counted(found.surplus, "document is", "documents are")
              << " not in the view; list the surplus with --list, and delete it with --delete-surplus, "
                 "or add its rows to the view\n";
    return false;
  }

  /// One that was cut off may have left a block.
  static void let_in(BothSides& sides, const std::string& alias) {
    for (const std::string& index : let_writes_in(sides.elasticsearch, alias))
      std::cout << index << " takes writes again: index.blocks.write was set\n";
  }

  Survey look(const Config& config, BothSides& sides, const std::string& alias) const {
    const std::unique_ptr<ViewReader> views = open_view_reader(config);
    const auto index = std::find_if(views->indices().begin(), views->indices().end(),
                                    [&](const AppliedIndex& each) { return each.alias == alias; });
    RateMeter rate;
    SurveyListener::Pass last = SurveyListener::Pass::kComparing;
    ProgressLine line;
    return survey(config, *views, sides.elasticsearch, *index,
                  {.progress =
                       [&](SurveyListener::Pass pass, std::int64_t done, std::int64_t total) {
                         if (pass != last) rate = RateMeter();
                         last = pass;
                         rate.add(std::chrono::steady_clock::now(), done);
                         const bool is_first = pass == SurveyListener::Pass::kComparing;
                         if (total > 0 && line.due())
                           line.show(alias + (is_first ? ": comparing " : ": looking for missing ones ") +
                                     progress_bar(done, total, rate.per_second()));
                       },
                   .found =
                       [&](const Suspects& suspects) {
                         line.clear();
                         if (list_) list(alias, suspects);
                       }});
  }

  static void list(const std::string& alias, const Suspects& suspects) {
    const auto print = [&](const char* difference, const std::vector<FoundDocument>& documents) {
      for (const FoundDocument& document : documents)
        std::cout << difference_text(alias, difference, document) << '\n';
    };
    print("missing", suspects.missing);
    print("different", suspects.different);
    print("surplus", suspects.surplus);
  }

  static void tell(const IndexPlan& plan, BothSides& sides, const Survey& found) {
    std::cout << plan.alias << ": " << counted(found.in_index, "document") << " in index " << plan.index
              << ", " << grouped(found.in_view) << " in the view\n  " << grouped(found.equal())
              << " equal: they stay as they are\n"
              << kind_text("different", found.different, found.examples.different)
              << kind_text("missing", found.missing, found.examples.missing)
              << kind_text("surplus, which the view does not have", found.surplus, found.examples.surplus);
    for (const std::string& pipeline : found.ingest_pipelines)
      std::cout << "  the ingest pipeline " << pipeline << " may add other fields, which are not compared\n";
    for (const IndexState& index : sides.elasticsearch.indices_of(plan.alias)) {
      const std::string fields = foreign_fields(index, sides.source->document_fields()[plan.alias]);
      if (!fields.empty())
        std::cout
            << "  the view does not give these fields of the index; a document that has one is different, "
               "and loses it: "
            << fields << '\n';
    }
    if (found.greatest_version > ForeignWrites::kMostOvertaken)
      std::cout
          << "  a document has the version " << found.greatest_version.value()
          << ", which none of lockstep's can follow: it is deleted when it changes, and comes back after a "
             "minute (index.gc_deletes)\n";
    for (const MappingDifference& difference : plan.differences)
      std::cout << "  not as in the mapping file, and left for `lockstep plan` afterwards: "
                << difference.text() << '\n';
  }

  static void require_something_in_common(const std::string& alias, const Survey& found) {
    if (!found.nothing_in_common()) return;
    throw Error({"adopting " + alias,
                 "no document of the index has the _id and the routing of one of the view: they are made in "
                 "another way",
                 "give the view the _id and _routing of the index; or choose another alias, which "
                 "`lockstep apply` "
                 "makes an index for, and let searches use that"});
  }

  PipelineOption pipeline_;
  std::vector<std::string> aliases_;
  bool dry_run_ = false;
  bool delete_surplus_ = false;
  bool list_ = false;
  YesOption yes_;
};

}  // namespace

std::unique_ptr<Verb> make_adopt_verb() {
  return std::make_unique<Adopt>();
}

}  // namespace lockstep
