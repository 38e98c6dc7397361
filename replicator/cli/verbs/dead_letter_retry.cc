#include "replicator/cli/verbs/dead_letter_retry.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "replicator/cli/text/dead_letter_text.h"
#include "replicator/cli/verbs/dead_letter_pages.h"
#include "replicator/cli/verbs/finish_work.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/quantity.h"

namespace lockstep {
namespace {

constexpr std::size_t kRetriedTogether = 10'000;  // documents

class DeadLetterRetry {
 public:
  DeadLetterRetry(const Config& config, Source& source)
      : config_(config), source_(source), pipeline_(source.pipeline()) {}

  ExitCode run(const DeadLetterFilter& filter) {
    for_each_page(source_.dead_letters(), filter, [&](const DeadLetterPage& page) { add(page); });
    if (found_ == 0) {
      std::cerr << kNoDeadLetter;
      return ExitCode::kDone;
    }
    make_due();
    std::cerr << "trying " << dead_letters_text(found_) << " again\n";
    finish_work(config_, source_, make_transport_factory(config_.elasticsearch), work_);
    const std::int64_t refused = print_refused();
    if (refused == 0) {
      std::cerr << "none of them is refused any more\n";
      return ExitCode::kDone;
    }
    std::cerr << dead_letters_text(refused) << " of " << grouped(found_) << (refused == 1 ? " is" : " are")
              << " still refused\n";
    return ExitCode::kFailed;
  }

 private:
  void add(const DeadLetterPage& page) {
    for (const StoredDeadLetter& stored : page) {
      const DeadLetter& letter = stored.letter;
      std::vector<FoundDocument>& documents = documents_[letter.index];
      documents.push_back({letter.id, letter.routing});
      DocumentIds& ids = tried_[letter.index];
      if (ids.empty() || ids.back() != letter.id) ids.push_back(letter.id);
      if (documents.size() >= kRetriedTogether) make_due();
    }
    found_ += static_cast<std::int64_t>(page.size());
  }

  // As a document that differs from its view: its contents in the view at that time are written.
  void make_due() {
    const std::unique_ptr<SourceTransaction> transaction = source_.changes().begin_repair();
    for (const AppliedIndex& index : pipeline_.indices) {
      const auto documents = documents_.find(index.id);
      if (documents != documents_.end())
        transaction->add_repair(index, documents->second, {.reason = "dead-letters retry"});
    }
    work_.add(transaction->commit(), source_.changes());
    documents_.clear();
  }

  // Prints those of the documents that are dead letters now, whenever they were refused; returns how many.
  std::int64_t print_refused() {
    std::int64_t refused = 0;
    for (const auto& [index, ids] : tried_) {
      for (std::size_t begin = 0; begin < ids.size(); begin += kDeadLetterPage) {
        const std::size_t end = std::min(ids.size(), begin + static_cast<std::size_t>(kDeadLetterPage));
        DeadLetterFilter again;
        again.indices = {index};
        again.ids = DocumentIds(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                ids.begin() + static_cast<std::ptrdiff_t>(end));
        for_each_page(source_.dead_letters(), again, [&](const DeadLetterPage& page) {
          for (const StoredDeadLetter& stored : page) {
            std::cout << dead_letter_line(index_of(pipeline_, stored).alias, stored);
          }
          refused += static_cast<std::int64_t>(page.size());
        });
      }
    }
    return refused;
  }

  const Config& config_;
  Source& source_;
  const AppliedPipeline pipeline_;                           // as of now: replication may reload the source's
  std::map<IndexId, std::vector<FoundDocument>> documents_;  // that are not due yet
  std::map<IndexId, DocumentIds> tried_;                     // each once: pages are in the order of ids
  AddedWork work_;
  std::int64_t found_ = 0;  // dead letters
};

}  // namespace

ExitCode retry_dead_letters(const Config& config, Source& source, const DeadLetterFilter& filter) {
  return DeadLetterRetry(config, source).run(filter);
}

}  // namespace lockstep
