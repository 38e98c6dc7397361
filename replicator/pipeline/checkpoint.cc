#include "replicator/pipeline/checkpoint.h"

#include <algorithm>
#include <chrono>

namespace lockstep {
namespace {

// Documents kept in memory during a trial, at most, while the index with the refusals has few.
constexpr std::int64_t kMostUnsaved = 10 * RefusedShare::kWindow;

// How long it may stay unsaved while there is more to do, at least.
constexpr std::chrono::milliseconds kWhileBusy{200};

// Refused documents are kept in memory with their errors, and people look for them.
constexpr std::chrono::milliseconds kRefused{100};

}  // namespace

void Checkpoint::begin_trial(IndexId index, std::int64_t dead_letters) {
  // The dead letters between the checkpoint and the stop, fewer than a window, are refused again and do not
  // count.
  on_trial_[index] = RefusedShare::kWindow + std::min(dead_letters, RefusedShare::kWindow);
}

// A commit waits for the disk, and each change would wait with it. So it commits only when the source needs
// it, or a save is due.
void Checkpoint::settle(SourceTransaction& transaction) {
  const bool is_due = writer_.has_news() && age(steady_now()) >= std::max(save_within_, kWhileBusy);
  if (!is_due && transaction.may_be_shown()) return;
  save_and_commit(transaction, take_news());
}

void Checkpoint::make_durable() {
  save_and_commit(*changes_.begin(versions_.epoch()), take_news());
}

std::chrono::milliseconds Checkpoint::save_within() {
  save_within_ = changes_.save_within();
  if (!writer_.news().refused().empty()) save_within_ = std::min(save_within_, kRefused);
  return save_within_;
}

void Checkpoint::save(const Position& read_to) {
  const bool waits = waits_for_more();
  News news = take_news();
  if (!waits && writer_.acknowledgements().open(Lane::tail()) == 0) news.acknowledged.position = read_to;
  save_and_commit(*changes_.begin(versions_.epoch()), news);
}

bool Checkpoint::waits_for_more() const {
  if (on_trial_.empty()) return false;
  const std::map<IndexId, std::int64_t>& documents = writer_.news().documents();
  std::int64_t all = 0;
  for (const auto& [index, count] : documents) all += count;
  const std::vector<DeadLetter>& refused = writer_.news().refused();
  return all < kMostUnsaved && std::any_of(refused.begin(), refused.end(), [&](const DeadLetter& letter) {
           const auto trial = on_trial_.find(letter.index);
           return trial != on_trial_.end() && documents.at(letter.index) < trial->second;
         });
}

Checkpoint::News Checkpoint::take_news() {
  if (waits_for_more()) return {};
  News news{writer_.take_acknowledged(), writer_.news().take_unwritten(), writer_.news().take_repeated()};
  for (const DeadLetter& letter : news.acknowledged.refused) on_trial_.erase(letter.index);
  return news;
}

void Checkpoint::make_due(SourceTransaction& transaction, const News& news) {
  for (const AppliedIndex& index : pipeline_.indices) {
    if (const auto found = news.unwritten.find(index.id); found != news.unwritten.end()) {
      const auto& [documents, reason, since] = found->second;
      transaction.add_repair(index, documents, {versions_.next(), since, reason, kTriedAgainAfter});
    }
    if (const auto found = news.repeated.find(index.id); found != news.repeated.end()) {
      const auto later = std::chrono::ceil<std::chrono::milliseconds>(found->second.at - steady_now());
      transaction.add_repair(index, found->second.documents,
                             {.as_of = versions_.next(),
                              .reason = "a write from before its deletion may have come late",
                              .later = std::max(later, std::chrono::milliseconds(1))});
    }
  }
}

void Checkpoint::save_and_commit(SourceTransaction& transaction, const News& news) {
  const ReadingNote note(
      board_, &ReplicationProgress::loop_reads,
      "saving the checkpoint (a commit waits for the disk, and for a synchronous standby)");
  const Acknowledged& acknowledged = news.acknowledged;
  std::vector<std::size_t> fresh;
  if (!acknowledged.refused.empty()) {
    transaction.may_be_shown();  // throws Deposed: a deposed leader judges nothing
    fresh = transaction.new_dead_letters(acknowledged.refused);
  }
  transaction.save(acknowledged);
  make_due(transaction, news);
  refused_share_.count(acknowledged, fresh);  // throws before the commit (K2)
  Committed added = transaction.commit();
  saved_at_ = steady_now();
  listener_(acknowledged);
  added_listener_(std::move(added));
}

}  // namespace lockstep
