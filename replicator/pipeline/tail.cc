#include "replicator/pipeline/tail.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "replicator/clock.h"

namespace lockstep {
namespace {

// While more waits to be read or to be written, a change of a row that leads to few documents is written at
// once, and any other becomes due: it would be written as often as it comes.
constexpr std::int64_t kSmallDocuments = 100;
constexpr std::int64_t kSmallDocumentsOfValue = 4;

// How long small changes are looked for among those of a chunk that lead to too many documents together, and
// each half of them. Those that come meanwhile wait.
constexpr std::chrono::milliseconds kSeparateFor{30};
constexpr std::chrono::milliseconds kHalfFor{10};

// Small changes that come while others are on the wire wait for these to be answered, so long at most: a
// request costs Elasticsearch as much as several documents in it do. A change by itself does not wait. (J.
// Nagle, RFC 896)
constexpr std::chrono::milliseconds kGatherFor{5};

// One index's share of the tail's time. One with a routing would be read on the same connection by a job,
// too, so it has to be paused, and compared when it can be read again: that costs more than a wait.
constexpr std::chrono::milliseconds kLongestReading{4'000};
constexpr std::chrono::milliseconds kLongestRoutedReading{10'000};

// Documents of one index that are more than this together become due, however few they are: small changes
// would wait for them.
constexpr std::size_t kMostBytes = 8UL * 1024 * 1024;
constexpr std::string_view kLarge = "not many documents, but large ones";

// Long values, such as addresses of pages, that are more than this together are not looked up here: the
// statement with all of them takes long to send and to read, whatever it finds.
constexpr std::size_t kMostValueBytes = 1024 * 1024;

using CapturedChanges = std::vector<CapturedChange>;

std::size_t bytes_of(const Values& values) {
  std::size_t bytes = 0;
  for (const std::string& value : values) bytes += value.size();
  return bytes;
}

std::size_t number_of_values(const CapturedChanges& changes) {
  std::size_t values = 0;
  for (const CapturedChange& change : changes) values += change.values.size();
  return values;
}

// Those of the captures whose values are too long together.
CapturedChanges take_long(CapturedChanges& changes) {
  const auto is_short = [](const CapturedChange& change) {
    return bytes_of(change.values) <= kMostValueBytes;
  };
  const auto first_long = std::stable_partition(changes.begin(), changes.end(), is_short);
  CapturedChanges taken(std::make_move_iterator(first_long), std::make_move_iterator(changes.end()));
  changes.erase(first_long, changes.end());
  return taken;
}

// Whether any row may have changed. The changes of rows stay: a dead leader's writes of them may land when a
// look at all documents is over.
bool take_everything(CapturedChanges& changes) {
  bool is_any = false;
  for (CapturedChange& change : changes) is_any |= std::exchange(change.everything, false);
  std::erase_if(changes, [](const CapturedChange& change) { return change.values.empty(); });
  return is_any;
}

bool is_one_value(const CapturedChanges& changes) {
  return changes.size() == 1 && changes.front().values.size() <= 1;
}

// REQUIRES: not is_one_value().
std::pair<CapturedChanges, CapturedChanges> halves_of(const CapturedChanges& changes) {
  if (changes.size() > 1) {
    const auto middle = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 2);
    return {{changes.begin(), middle}, {middle, changes.end()}};
  }
  const CapturedChange& change = changes.front();
  const auto middle = change.values.begin() + static_cast<std::ptrdiff_t>(change.values.size() / 2);
  return {{{change.capture, {change.values.begin(), middle}}},
          {{change.capture, {middle, change.values.end()}}}};
}

void add(CapturedChanges& to, const CapturedChanges& changes) {
  for (const CapturedChange& change : changes) {
    const auto same = std::find_if(
        to.begin(), to.end(), [&](const CapturedChange& other) { return other.capture == change.capture; });
    if (same == to.end()) {
      to.push_back(change);
    } else {
      same->values.insert(same->values.end(), change.values.begin(), change.values.end());
    }
  }
}

std::vector<CapturedChange> of_index(const AppliedIndex& index, const std::vector<CapturedChange>& changes) {
  std::vector<CapturedChange> own;
  for (const CapturedChange& change : changes) {
    if (std::find(index.captures.begin(), index.captures.end(), change.capture) != index.captures.end())
      own.push_back(change);
  }
  return own;
}

}  // namespace

Tail::Tail(const Config& config, const AppliedPipeline& pipeline, Standing& standing, ChangeLog& changes,
           DocumentWriter& writer, Checkpoint& checkpoint, VersionCounter& versions, ProgressBoard& board,
           std::function<bool(IndexId)> is_due)
    : chunk_documents_(config.replication.chunk_documents),
      fan_out_threshold_(config.replication.fan_out_threshold),
      bulk_bytes_(static_cast<std::size_t>(config.elasticsearch.bulk_bytes)),
      pipeline_(pipeline),
      standing_(standing),
      changes_(changes),
      writer_(writer),
      checkpoint_(checkpoint),
      versions_(versions),
      board_(board),
      is_due_(std::move(is_due)),
      limit_([&changes] { return changes.cancel_reading(); }),
      chunk_size_(config.replication.chunk_documents, bulk_bytes_),
      position_(changes.checkpoint()),
      chunk_begin_(position_) {}

bool Tail::turn() {
  standing_.release(steady_now());
  try {
    return step();
  } catch (const ViewTooSlow& too_slow) {
    if (pipeline_.find(too_slow.index())->routed) throw ViewError(too_slow.parts(), too_slow.index());
    rewind();
    standing_.note_too_slow(too_slow, steady_now());
    return true;
  }
}

bool Tail::step() {
  // A transaction that waits for Elasticsearch would hold back the source's vacuum, so none is opened.
  if (!writer_.has_room()) return false;
  if (idle() && at_end_ && writer_.tail_has_request_younger_than(kGatherFor)) return false;
  if (pieces_.empty() && !changes_.may_have_changed(position_)) {
    at_end_ = true;
    return false;
  }
  std::unique_ptr<SourceTransaction> transaction = changes_.begin(versions_.epoch());
  StepDocuments documents(versions_.epoch(), versions_.number(*transaction), bulk_bytes_);
  version_ = documents.version();
  if (pieces_.empty() && !read(*transaction)) return false;

  render(*transaction, documents);
  chunk_size_.rendered(documents.size().bytes);
  checkpoint_.settle(*transaction);
  for (const auto& [index, reason] : std::exchange(to_pause_, {})) standing_.note_paused(index, reason);

  StepEnd end = pieces_.empty() ? std::exchange(end_, StepEnd{}) : StepEnd{};
  if (!pieces_.empty()) end.oldest_change = end_.oldest_change;
  writer_.submit(Lane::tail(), std::move(documents), std::move(end));
  return true;  // the transaction ends behind the documents, which do not wait for that round trip
}

void Tail::rewind() {
  position_ = chunk_begin_;
  pieces_.clear();
  to_pause_.clear();
  end_ = {};
  at_end_ = false;
}

bool Tail::read(SourceTransaction& transaction) {
  chunk_begin_ = position_;
  is_first_step_ = at_end_;
  Changes changes = [&] {
    const ReadingNote note(board_, &ReplicationProgress::loop_reads, "reading the outbox");
    return transaction.read_changes(position_, {chunk_size_.values(), fan_out_threshold_});
  }();
  position_ = changes.next;
  at_end_ = !changes.more;
  unknown_captures_.insert(changes.unknown_captures.begin(), changes.unknown_captures.end());
  if (changes.rows == 0) return false;
  if (!changes.more) ++batches_;
  end_.position = changes.next;
  end_.rows = changes.rows;
  end_.oldest_change = steady_now() - changes.oldest_age;
  if (changes.large) {
    make_due(transaction, *changes.large);
  } else {
    chunk_size_.begins(number_of_values(changes.captured));
    resolve(transaction, changes.captured);
  }
  return true;
}

std::int64_t Tail::most_at_once(IndexId index, const std::vector<CapturedChange>& changes) const {
  const bool has_time = at_end_ && !is_due_(index) && writer_.acknowledgements().open(Lane::tail()) == 0;
  if (has_time) return fan_out_threshold_;
  const auto values = static_cast<std::int64_t>(number_of_values(changes));
  return std::min(fan_out_threshold_, kSmallDocuments + kSmallDocumentsOfValue * values);
}

// The small changes that came with a large one: half by half, a page of documents at most. Large ones, and
// those not looked at in time, become due.
void Tail::separate(SourceTransaction& transaction, const AppliedIndex& index,
                    const std::vector<CapturedChange>& changes, std::int64_t room) {
  const auto end = steady_now() + kSeparateFor;
  room = std::min(room, chunk_documents_);
  CapturedChanges large;
  DocumentIds small;
  std::deque<CapturedChanges> too_many{changes};
  const auto look_at = [&](CapturedChanges half) {
    std::optional<DocumentIds> ids = transaction.resolve(index, half, {room, kHalfFor});
    if (!ids) {
      too_many.push_back(std::move(half));
      return;
    }
    room -= static_cast<std::int64_t>(ids->size());
    small.insert(small.end(), ids->begin(), ids->end());
  };
  while (!too_many.empty()) {
    const CapturedChanges part = std::move(too_many.front());
    too_many.pop_front();
    if (is_one_value(part) || steady_now() >= end) {
      add(large, part);
      continue;
    }
    auto [first, second] = halves_of(part);
    look_at(std::move(first));
    look_at(std::move(second));
  }
  if (!large.empty()) transaction.add_due_changes(index, large, version_);
  std::sort(small.begin(), small.end());
  small.erase(std::unique(small.begin(), small.end()), small.end());
  if (!small.empty()) pieces_.push_back({&index, std::move(small)});
}

// Which indices the transaction concerns is not known yet.
void Tail::make_due(SourceTransaction& transaction, const LargeTransaction& large) {
  for (const AppliedIndex& index : pipeline_.indices) {
    const auto add = [&] { transaction.add_due_transaction(index, large, version_); };
    if (follows(transaction, index, add)) add();
  }
}

void Tail::resolve(SourceTransaction& transaction, const std::vector<CapturedChange>& changes) {
  for (const AppliedIndex& index : pipeline_.indices) {
    if (standing_.is_paused(index.id)) continue;  // it will be compared
    std::vector<CapturedChange> own = of_index(index, changes);
    if (take_everything(own)) {
      // The rows of a truncated table are gone. Only a look at all documents shows which ones they made.
      for (const JobKind kind : {JobKind::kBackfill, JobKind::kSweep})
        transaction.add_job(index.id, kind, std::string(kEverythingChanged));
    }
    if (own.empty()) continue;
    if (!follows(transaction, index, [&] { transaction.add_due_changes(index, own, version_); })) continue;
    if (const CapturedChanges long_ones = take_long(own); !long_ones.empty())
      transaction.add_due_changes(index, long_ones, version_);
    if (own.empty()) continue;
    const ReadingNote note(board_, &ReplicationProgress::loop_reads,
                           "finding changed documents of " + index.alias);
    const std::int64_t most = most_at_once(index.id, own);
    std::optional<DocumentIds> ids = transaction.resolve(index, own, {most});
    if (!ids) {
      separate(transaction, index, own, most);
    } else if (!ids->empty()) {
      pieces_.push_back({&index, *std::move(ids)});
    }
  }
}

// The documents that become due are found when the index takes writes again, or alongside the tail if its
// view is slow, or it is slow to write. After many such chunks a comparison of the whole index is less work,
// and nothing more is written down.
bool Tail::follows(SourceTransaction& transaction, const AppliedIndex& index,
                   const std::function<void()>& make_due) {
  switch (standing_.of(index.id)) {
    case Standing::Kind::kFollowed:
      standing_.follow_chunk(index.id);
      return true;
    case Standing::Kind::kPaused:
      return false;  // it will be compared
    case Standing::Kind::kDeferred:
      break;
  }
  const std::optional<std::string> why_pause = standing_.defer_chunk(index.id);
  if (!why_pause) {
    make_due();
    return false;
  }
  transaction.set_aside(index.id, *why_pause);
  to_pause_.emplace_back(index.id, *why_pause);
  return false;
}

void Tail::step_aside(SourceTransaction& transaction, Piece& piece, const std::string& reason) {
  transaction.add_due(*piece.index, std::exchange(piece.ids, {}), {version_, std::nullopt, reason});
}

void Tail::render(SourceTransaction& transaction, StepDocuments& documents) {
  const bool is_first = std::exchange(is_first_step_, false) && writer_.requests_in_flight() == 0;
  while (!pieces_.empty() && !is_nearly_full(documents.size().bytes, bulk_bytes_) &&
         !(is_first && documents.size().documents >= static_cast<std::size_t>(kFirstDocuments))) {
    Piece& piece = pieces_.front();
    if (standing_.of(piece.index->id) != Standing::Kind::kFollowed) {
      step_aside(transaction, piece, standing_.reason(piece.index->id));
    } else if (renderings_[piece.index->id].size().of(piece.ids.size()) > kMostBytes) {
      step_aside(transaction, piece, std::string(kLarge));
    } else {
      render(transaction, documents, piece, is_first ? kFirstDocuments : chunk_documents_);
    }
    if (piece.ids.empty()) pieces_.pop_front();
  }
}

void Tail::render(SourceTransaction& transaction, StepDocuments& documents, Piece& piece,
                  std::int64_t most_documents) {
  const AppliedIndex& index = *piece.index;
  const ReadingNote note(board_, &ReplicationProgress::loop_reads, "rendering documents of " + index.alias);
  limit_.run(index, index.routed ? kLongestRoutedReading : kLongestReading, [&] {
    renderings_[index.id].render(transaction, index, piece.ids, documents, bulk_bytes_, most_documents);
  });
}

}  // namespace lockstep
