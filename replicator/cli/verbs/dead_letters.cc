// `lockstep dead-letters`: refused documents, for people to look at, to try again and to forget.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "replicator/cli/options/dead_letter_options.h"
#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/options/yes_option.h"
#include "replicator/cli/text/dead_letter_text.h"
#include "replicator/cli/verb.h"
#include "replicator/cli/verbs/dead_letter_pages.h"
#include "replicator/cli/verbs/dead_letter_retry.h"
#include "replicator/error.h"
#include "replicator/log/log_command.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

class DeadLetters final : public Verb {
 public:
  const char* name() const override { return "dead-letters"; }
  const char* summary() const override {
    return "List, show, retry or discard the documents that Elasticsearch refused";
  }
  const char* example() const override {
    return "lockstep dead-letters -c shop.toml list --since 2h\n"
           "lockstep dead-letters -c shop.toml show 4711\n"
           "lockstep dead-letters -c shop.toml retry --index products --error mapper_parsing_exception\n"
           "lockstep dead-letters -c shop.toml discard --until 2026-01-31";
  }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    Options list = add(options, "list", "Print one line for each", &DeadLetters::list);
    Options show =
        add(options, "show", "Print every detail, and the documents as they are now", &DeadLetters::show);
    Options retry = add(options, "retry", "Write the documents as they are now", &DeadLetters::retry);
    Options discard =
        add(options, "discard", "Forget them; the documents stay as they are", &DeadLetters::discard);
    for (Options reading : {list, show}) {
      reading.flag("--json", json_, "Print one JSON object on each line");
    }
    for (Options changing : {retry, discard}) options_.add_all_to(changing);
    yes_.add_to(discard, YesOption::WithoutTerminal::kRefuse);
  }

  ExitCode run() override {
    config_ = pipeline_.load();
    if (chosen_ == nullptr) throw missing_subcommand(name(), "list, show, retry or discard");
    source_ = open_source(config_, name());
    filter_ = options_.filter(source_->pipeline(), source_->dead_letters().now());
    return (this->*chosen_)();
  }

 private:
  using Subcommand = ExitCode (DeadLetters::*)();

  Options add(Options options, const char* name, const char* summary, Subcommand subcommand) {
    Options command = options.command(
        name, summary,
        std::string("lockstep dead-letters -c shop.toml ") + name + " --index products --since 2h",
        [this, subcommand] { chosen_ = subcommand; });
    options_.add_to(command);
    return command;
  }

  ExitCode list() {
    for_each_page(source_->dead_letters(), filter_, [this](const DeadLetterPage& page) {
      for (const StoredDeadLetter& stored : page) {
        const std::string& alias = index_of(source_->pipeline(), stored).alias;
        std::cout << (json_ ? dead_letter_json(alias, stored, nullptr) : dead_letter_line(alias, stored));
      }
    });
    return ExitCode::kDone;
  }

  ExitCode show() {
    if (!options_.choose_some())
      throw UsageError(
          "show needs ids, --index, --error, --since or --until; `list` prints all dead letters");
    bool shown = false;
    for_each_page(source_->dead_letters(), filter_, [&](const DeadLetterPage& page) {
      for (const StoredDeadLetter& stored : page) {
        const std::string& alias = index_of(source_->pipeline(), stored).alias;
        const DeadLetterDocument document = document_of(stored);
        if (json_) {
          std::cout << dead_letter_json(alias, stored, &document);
        } else {
          std::cout << (shown ? "\n" : "") << dead_letter_text(alias, stored, document);
        }
        shown = true;
      }
    });
    if (!shown) std::cerr << kNoDeadLetter;
    return shown ? ExitCode::kDone : ExitCode::kFailed;
  }

  DeadLetterDocument document_of(const StoredDeadLetter& stored) const {
    DeadLetterDocument document;
    try {
      source_->changes().read()->render(index_of(source_->pipeline(), stored), {stored.letter.id},
                                        config_.elasticsearch.bulk_bytes,
                                        [&](const RenderedDocument& rendered) {
                                          if (rendered.json) document.json = std::string(*rendered.json);
                                        });
    } catch (const Error& error) {
      if (error.retryable()) throw;
      document.problem = error.parts().cause;
    }
    return document;
  }

  ExitCode retry() {
    options_.require_choice("retry");
    return retry_dead_letters(config_, *source_, filter_);
  }

  ExitCode discard() {
    options_.require_choice("discard");
    yes_.require_answer("discard asks before it forgets anything");
    const std::int64_t found = source_->dead_letters().count(filter_);
    if (found == 0) {
      std::cerr << kNoDeadLetter;
      return ExitCode::kDone;
    }
    require_live();
    if (!yes_.confirms("Forget " + dead_letters_text(found) +
                       "? Their documents stay different from the view."))
      return ExitCode::kFailed;
    log_command("dead-letters discard", config_.pipeline);
    const std::int64_t discarded = source_->dead_letters().discard(filter_);
    std::cerr << "discarded " << dead_letters_text(discarded)
              << "; until these documents change, the index differs from its view (`lockstep verify` names "
                 "them, `lockstep verify --repair` tries them again)\n";
    return ExitCode::kDone;
  }

  // Those of an index next to another one show what keeps the alias from moving there.
  void require_live() {
    for (const AppliedIndex& index : source_->pipeline().indices) {
      const bool is_chosen =
          std::find(filter_.indices.begin(), filter_.indices.end(), index.id) != filter_.indices.end();
      if (!index.beside || !is_chosen) continue;
      DeadLetterFilter its = filter_;
      its.indices = {index.id};
      if (source_->dead_letters().count(its) == 0) continue;
      throw UsageError("the alias " + *index.beside + " may move to " + index.alias +
                       ", and only its dead letters show that it differs from its view; let them be retried, "
                       "move the alias anyway with `lockstep reindex --force`, or do without the index: "
                       "`lockstep reindex --finish " +
                       *index.beside +
                       "`, before a swap --abort (--index chooses the dead letters of others)");
    }
  }

  PipelineOption pipeline_;
  DeadLetterOptions options_;
  bool json_ = false;
  YesOption yes_;
  Subcommand chosen_ = nullptr;

  // From run():
  Config config_;
  std::unique_ptr<Source> source_;
  DeadLetterFilter filter_;
};

}  // namespace

std::unique_ptr<Verb> make_dead_letters_verb() {
  return std::make_unique<DeadLetters>();
}

}  // namespace lockstep
