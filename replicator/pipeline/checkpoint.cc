#include "replicator/pipeline/checkpoint.h"

#include <algorithm>

namespace lockstep {
namespace {

// What is kept in memory during a trial, at most, while the index with the refusals has few documents.
constexpr std::int64_t kMostUnsaved = 10 * RefusedShare::kWindow;

// What has been acknowledged and is not saved is done again after a crash.
constexpr auto kMostUnsavedAge = std::chrono::milliseconds(200);

}  // namespace

void Checkpoint::begin_trial(int index, std::int64_t dead_letters) {
  // Those between the checkpoint and the stop, less than a window, come once more and do not count.
  on_trial_[index] = RefusedShare::kWindow + std::min(dead_letters, RefusedShare::kWindow);
}

// S4. Without a commit when nothing needs it: a commit waits for the disk, and each change would wait with
// it.
void Checkpoint::settle(std::unique_ptr<SourceTransaction> transaction) {
  const bool is_due = writer_.has_news() && age(std::chrono::steady_clock::now()) >= kMostUnsavedAge;
  if (is_due || !transaction->may_be_shown(versions_.epoch()))
    save_and_commit(*transaction, take_acknowledged());
}

void Checkpoint::save(Source& source, const Position& read_to) {
  const bool waits = waits_for_more();
  Acknowledged acknowledged = take_acknowledged();
  if (!waits && writer_.acknowledgements().open(Lane::tail()) == 0) acknowledged.position = read_to;
  save_and_commit(*source.begin(), acknowledged);
}

bool Checkpoint::waits_for_more() const {
  if (on_trial_.empty()) return false;
  const std::map<int, std::int64_t>& documents = writer_.unsaved_documents();
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

void Checkpoint::save_and_commit(SourceTransaction& transaction, const Acknowledged& acknowledged) {
  const std::vector<std::size_t> fresh = transaction.save(versions_.epoch(), acknowledged);
  refused_share_.count(acknowledged, fresh);
  transaction.commit();
  saved_at_ = std::chrono::steady_clock::now();
  listener_(acknowledged);
}

}  // namespace lockstep
