#include "replicator/pipeline/checkpoint.h"

#include <algorithm>

namespace lockstep {
namespace {

// Documents kept in memory during a trial, at most, while the index with the refusals has few.
constexpr std::int64_t kMostUnsaved = 10 * RefusedShare::kWindow;

// What is acknowledged and not saved is done again after a crash.
constexpr auto kMostUnsavedAge = std::chrono::milliseconds(200);

}  // namespace

void Checkpoint::begin_trial(IndexId index, std::int64_t dead_letters) {
  // The dead letters between the checkpoint and the stop, less than a window of them, come once more and do
  // not count.
  on_trial_[index] = RefusedShare::kWindow + std::min(dead_letters, RefusedShare::kWindow);
}

// A commit waits for the disk, and each change would wait with it. So it commits only when the source needs
// it, or a save is due.
std::vector<Job> Checkpoint::settle(std::unique_ptr<SourceTransaction> transaction) {
  const bool is_due = writer_.has_news() && age(std::chrono::steady_clock::now()) >= kMostUnsavedAge;
  if (!is_due && transaction->may_be_shown()) return {};
  return save_and_commit(*transaction, take_acknowledged());
}

void Checkpoint::save(ChangeLog& changes, const Position& read_to) {
  const bool waits = waits_for_more();
  Acknowledged acknowledged = take_acknowledged();
  if (!waits && writer_.acknowledgements().open(Lane::tail()) == 0) acknowledged.position = read_to;
  save_and_commit(*changes.begin(epoch_), acknowledged);
}

bool Checkpoint::waits_for_more() const {
  if (on_trial_.empty()) return false;
  const std::map<IndexId, std::int64_t>& documents = writer_.unsaved_documents();
  std::int64_t all = 0;
  for (const auto& [index, count] : documents) all += count;
  const std::vector<DeadLetter>& refused = writer_.unsaved_refusals();
  return all < kMostUnsaved && std::any_of(refused.begin(), refused.end(), [&](const DeadLetter& letter) {
           const auto trial = on_trial_.find(letter.index);
           return trial != on_trial_.end() && documents.at(letter.index) < trial->second;
         });
}

Acknowledged Checkpoint::take_acknowledged() {
  if (waits_for_more()) return {};
  Acknowledged news = writer_.take_acknowledged();
  for (const DeadLetter& letter : news.refused) on_trial_.erase(letter.index);
  return news;
}

std::vector<Job> Checkpoint::save_and_commit(SourceTransaction& transaction,
                                             const Acknowledged& acknowledged) {
  std::vector<std::size_t> fresh;
  if (!acknowledged.refused.empty()) {
    transaction.may_be_shown();  // throws Deposed: a deposed leader judges nothing
    fresh = transaction.new_dead_letters(acknowledged.refused);
  }
  transaction.save(acknowledged);
  refused_share_.count(acknowledged, fresh);  // throws before the commit (K2)
  std::vector<Job> added = transaction.commit();
  saved_at_ = std::chrono::steady_clock::now();
  listener_(acknowledged);
  return added;
}

}  // namespace lockstep
