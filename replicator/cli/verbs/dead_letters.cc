// `lockstep deadletters`: what Elasticsearch refused, for people to look at, to try again and to forget.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <optional>

#include "replicator/cli/options/chosen_indices.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/text/dead_letter_text.h"
#include "replicator/cli/verb.h"
#include "replicator/cli/verbs/finish_jobs.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/error.h"
#include "replicator/process/terminal.h"
#include "replicator/service/readable.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

constexpr std::int64_t kPage = 1'000;             // dead letters read at once
constexpr std::size_t kRetriedTogether = 10'000;  // documents of one job

std::string counted(std::int64_t letters) {
  return grouped(letters) + (letters == 1 ? " dead letter" : " dead letters");
}

class DeadLetters final : public Verb {
 public:
  const char* name() const override { return "deadletters"; }
  const char* summary() const override { return "List, show, retry or discard what Elasticsearch refused"; }
  const char* example() const override {
    return "lockstep deadletters -c shop.toml list --since 2h\n"
           "lockstep deadletters -c shop.toml show 4711\n"
           "lockstep deadletters -c shop.toml retry --index products --error mapper_parsing_exception\n"
           "lockstep deadletters -c shop.toml discard --until 2026-01-31";
  }

  void add_options(CLI::App& app) override {
    pipeline_.add_to(app);
    app.require_subcommand(0, 1);
    app.get_formatter()->label("SUBCOMMAND", "ACTION");
    CLI::App& list = add_action(app, "list", "One line for each", &DeadLetters::list);
    CLI::App& show = add_action(app, "show", "All that is known of them, and their documents as they are now",
                                &DeadLetters::show);
    CLI::App& retry = add_action(app, "retry", "Write their documents as they are now", &DeadLetters::retry);
    CLI::App& discard =
        add_action(app, "discard", "Forget them; their documents stay as they are", &DeadLetters::discard);
    for (CLI::App* action : {&list, &show}) action->add_flag("--json", json_, "Print a JSON object a line");
    for (CLI::App* action : {&retry, &discard}) {
      action->add_flag("--all", all_, "All of them; needed where nothing else says which");
    }
    discard.add_flag("-y,--yes", yes_, "Do not ask; needed without a terminal");
  }

  ExitCode run() override {
    config_ = pipeline_.load();
    if (action_ == nullptr) {
      throw UsageError("deadletters needs to know what to do: list, show, retry or discard; see --help");
    }
    source_ = open_source(config_, "deadletters");
    applied_ = source_->load_pipeline();
    filter_ = filter();
    return (this->*action_)();
  }

 private:
  using Action = ExitCode (DeadLetters::*)();
  using Page = std::vector<StoredDeadLetter>;

  CLI::App& add_action(CLI::App& app, const char* name, const char* summary, Action action) {
    CLI::App& command = *app.add_subcommand(name, summary);
    command.fallthrough();  // -c may stand behind it too
    command.group("Actions");
    command.footer(std::string("Example:\n  lockstep deadletters -c shop.toml ") + name +
                   " --index products --since 2h");
    command.add_option("ID", ids_, "Ids of documents");
    command.add_option("--index", aliases_, "Only those of this index")
        ->type_name("ALIAS")
        ->allow_extra_args(false);  // ids may follow it
    command
        .add_option("--error", filter_.error,
                    "Only those of this error type, or with this text in the reason")
        ->type_name("TEXT");
    command.add_option("--since", since_, "Only those last refused since: a time (UTC) or an age such as 2h")
        ->type_name("TIME");
    command.add_option("--until", until_, "Only those last refused until then")->type_name("TIME");
    command.callback([this, action] { action_ = action; });
    return command;
  }

  bool says_which() const {
    return !ids_.empty() || !aliases_.empty() || !filter_.error.empty() || since_ || until_;
  }

  void require_choice(const char* action) const {
    if (all_ && !ids_.empty()) throw UsageError("--all excludes ids");
    if (all_ || says_which()) return;
    throw UsageError(std::string(action) +
                     " needs ids, --index, --error, --since or --until; --all means all of them");
  }

  DeadLetterFilter filter() const {
    DeadLetterFilter filter = filter_;
    for (const AppliedIndex* index : chosen_indices(applied_, aliases_)) filter.indices.push_back(index->id);
    filter.ids = ids_;
    if (since_) filter.since = point_in_time("--since", *since_);
    // What is refused from now on is none of those that are meant.
    filter.until = until_ ? point_in_time("--until", *until_) : point_in_time("--until", "now");
    return filter;
  }

  std::string point_in_time(const char* option, const std::string& text) const {
    const std::optional<std::string> time = source_->point_in_time(text);
    if (time) return *time;
    throw UsageError(std::string(option) + ": \"" + text +
                     "\" is neither a time nor an age; write 2026-01-31T12:00 (UTC), yesterday, 90min, 2h or "
                     "3d");
  }

  void for_each_page(const DeadLetterFilter& filter, const std::function<void(const Page&)>& take) const {
    std::optional<DeadLetter> last;
    while (true) {
      const Page page = source_->find_dead_letters(filter, last, kPage);
      if (!page.empty()) {
        take(page);
        last = page.back().letter;
      }
      if (static_cast<std::int64_t>(page.size()) < kPage) return;
    }
  }

  const AppliedIndex& index_of(const StoredDeadLetter& stored) const {
    return *std::find_if(applied_.indices.begin(), applied_.indices.end(),
                         [&](const AppliedIndex& index) { return index.id == stored.letter.index; });
  }

  void print(const StoredDeadLetter& stored) const {
    const std::string& alias = index_of(stored).alias;
    std::cout << (json_ ? dead_letter_json(alias, stored, nullptr) : dead_letter_line(alias, stored));
  }

  ExitCode list() {
    for_each_page(filter_, [this](const Page& page) {
      for (const StoredDeadLetter& stored : page) print(stored);
    });
    return ExitCode::kDone;
  }

  ExitCode show() {
    if (ids_.empty()) throw UsageError("show needs the id of a document; `list` has them");
    bool shown = false;
    for_each_page(filter_, [&](const Page& page) {
      for (const StoredDeadLetter& stored : page) {
        const std::string& alias = index_of(stored).alias;
        const DeadLetterDocument document = document_of(stored);
        if (json_) {
          std::cout << dead_letter_json(alias, stored, &document);
        } else {
          std::cout << (shown ? "\n" : "") << dead_letter_text(alias, stored, document);
        }
        shown = true;
      }
    });
    if (!shown) std::cerr << "no dead letter matches\n";
    return shown ? ExitCode::kDone : ExitCode::kFailed;
  }

  DeadLetterDocument document_of(const StoredDeadLetter& stored) const {
    DeadLetterDocument document;
    try {
      source_->begin_reading()->render(index_of(stored), {stored.letter.id}, config_.elasticsearch.bulk_bytes,
                                       std::nullopt, [&](const RenderedDocument& rendered) {
                                         if (rendered.json) document.json = std::string(*rendered.json);
                                       });
    } catch (const Error& error) {
      if (error.retryable()) throw;
      document.problem = error.parts().cause;
    }
    return document;
  }

  ExitCode retry() {
    require_choice("retry");
    std::map<int, std::vector<FoundDocument>> documents;
    std::int64_t found = 0;
    std::vector<std::int64_t> jobs;
    std::map<int, Values> tried;  // by index, without repetitions: pages are in the order of ids
    for_each_page(filter_, [&](const Page& page) {
      for (const StoredDeadLetter& stored : page) {
        const DeadLetter& letter = stored.letter;
        documents[letter.index].push_back({letter.id, letter.routing});
        Values& ids = tried[letter.index];
        if (ids.empty() || ids.back() != letter.id) ids.push_back(letter.id);
        if (documents[letter.index].size() >= kRetriedTogether) add_jobs(documents, jobs);
      }
      found += static_cast<std::int64_t>(page.size());
    });
    if (found == 0) {
      std::cerr << "no dead letter matches\n";
      return ExitCode::kDone;
    }
    add_jobs(documents, jobs);
    std::cerr << "trying " << counted(found) << " again\n";
    finish_jobs(config_, *source_, make_transport_factory(config_.elasticsearch), jobs);
    return report_refused(found, tried);
  }

  // As documents that differ from their view are repaired: each is written as the view gives it then.
  void add_jobs(std::map<int, std::vector<FoundDocument>>& documents, std::vector<std::int64_t>& jobs) const {
    const std::unique_ptr<SourceTransaction> transaction = source_->begin();
    for (const AppliedIndex& index : applied_.indices) {
      const auto of_index = documents.find(index.id);
      if (of_index == documents.end()) continue;
      for (const Job& job : transaction->add_repair(index, of_index->second, "deadletters retry")) {
        jobs.push_back(job.id);
      }
    }
    transaction->commit();
    documents.clear();
  }

  ExitCode report_refused(std::int64_t found, const std::map<int, Values>& tried) const {
    std::int64_t refused = 0;
    for (const auto& [index, ids] : tried) {
      for (std::size_t begin = 0; begin < ids.size(); begin += kPage) {
        const std::size_t end = std::min(ids.size(), begin + static_cast<std::size_t>(kPage));
        DeadLetterFilter again;
        again.indices = {index};
        again.ids = Values(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                           ids.begin() + static_cast<std::ptrdiff_t>(end));
        for_each_page(again, [&](const Page& page) {
          for (const StoredDeadLetter& stored : page) print(stored);
          refused += static_cast<std::int64_t>(page.size());
        });
      }
    }
    if (refused == 0) {
      std::cerr << "none of them is refused any more\n";
      return ExitCode::kDone;
    }
    std::cerr << counted(refused) << " of " << grouped(found) << (refused == 1 ? " is" : " are")
              << " still refused\n";
    return ExitCode::kFailed;
  }

  ExitCode discard() {
    require_choice("discard");
    if (!yes_ && !can_ask()) {
      throw UsageError("discard asks before it forgets anything, and there is no terminal; give --yes");
    }
    const std::int64_t found = source_->count_dead_letters(filter_);
    if (found == 0) {
      std::cerr << "no dead letter matches\n";
      return ExitCode::kDone;
    }
    if (!yes_ &&
        ask("Forget " + counted(found) + "? Their documents stay different from the view.") == Answer::kNo) {
      return ExitCode::kFailed;
    }
    const std::int64_t discarded = source_->discard_dead_letters(filter_);
    std::cerr << "discarded " << counted(discarded)
              << "; until these documents change the index differs from its view (`lockstep verify` names "
                 "them, `lockstep verify --repair` tries them again)\n";
    return ExitCode::kDone;
  }

  PipelineOption pipeline_;
  Values ids_;
  std::vector<std::string> aliases_;
  std::optional<std::string> since_;
  std::optional<std::string> until_;
  bool all_ = false;
  bool json_ = false;
  bool yes_ = false;
  Action action_ = nullptr;

  // From run():
  Config config_;
  std::unique_ptr<Source> source_;
  AppliedPipeline applied_;
  DeadLetterFilter filter_;  // the error is an option
};

}  // namespace

std::unique_ptr<Verb> make_dead_letters_verb() {
  return std::make_unique<DeadLetters>();
}

}  // namespace lockstep
