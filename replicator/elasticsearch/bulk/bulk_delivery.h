// One bulk request on its way until every item has an outcome: which items to send next, in pieces of which
// size, and the replies' meaning for them. No network, no clock, no threads: the bulk writer drives it.
//
// B2. Every item is in exactly one of four states: to be sent in this round, in the piece on the wire, to be
// sent again in the next round, or with an outcome.
//
// B3. An item gets its outcome once, and only from a reply that fits it.
//
// B4. Each split makes the piece smaller, so a round ends.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/elasticsearch/bulk/bulk_request.h"
#include "replicator/elasticsearch/bulk/bulk_response.h"
#include "replicator/elasticsearch/bulk/bulk_result.h"

namespace lockstep {

/// The part of a request that goes into one piece, within the congestion window. A piece that fails as a
/// whole halves the limit, to find the item to blame; a piece that comes through doubles it.
class PieceLimit {
 public:
  std::size_t items() const { return items_; }
  std::size_t bytes() const { return bytes_; }

  void came_through();
  /// From now on pieces have at most so many items, however many come through.
  void fix(std::size_t items);
  bool is_one() const { return fixed_ == 1; }
  bool is_fixed() const { return fixed_ != kUnlimited; }
  /// Pieces may be as large as at first, except for documents that are too large.
  void lift();
  /// A piece of so many items was rejected, timed out or was cut off.
  void too_much(std::size_t piece_items);
  /// 413 for a piece of so many bytes. Never relaxed: the server's limit does not change while we send.
  void too_large(std::size_t piece_bytes);

 private:
  static constexpr std::size_t kUnlimited = static_cast<std::size_t>(-1);

  std::size_t items_ = kUnlimited;
  std::size_t bytes_ = kUnlimited;
  std::size_t fixed_ = kUnlimited;
};

class BulkDelivery {
 public:
  explicit BulkDelivery(BulkRequest request);

  /// Whether every item has its outcome.
  bool finished() const { return unknown_ == 0; }

  /// Whether the round has a piece to send. If not and !finished(), wait, then begin_round().
  bool has_piece() const { return !to_send_.empty(); }

  /// The next piece, of at most `most_bytes` unless one document alone has more; valid until answered() or
  /// unanswered(). A document's write goes with its deletes under old routings, if the server takes them
  /// together. REQUIRES: has_piece(), no piece on the wire.
  const BulkRequest& next_piece(std::size_t most_bytes = static_cast<std::size_t>(-1));

  /// Takes in the reply to the piece. Returns how many items got their outcome.
  std::size_t answered(BulkReply reply);

  /// There was no reply. `sent`: whether the server may have got the piece. Puts the rest of the round off.
  void unanswered(bool sent, std::string reason);

  /// The last piece's evidence of the server's capacity. kItems: it came through. kOverloaded: 429 or 503 for
  /// all or some items, or no reply. kTooLarge: and no single document is to blame. Others: nothing.
  BulkReply::Kind load() const { return load_; }

  /// Bytes of the last piece.
  std::size_t piece_bytes() const { return piece_bytes_; }

  /// Begins the next round, with the items that must be sent again, those of the last piece behind the
  /// others: an unanswered item delays no other.
  void begin_round();

  /// The items that must be sent again. REQUIRES: !has_piece().
  const std::vector<std::size_t>& left() const { return next_round_; }

  /// Whether the server is done with the last piece of each item in left(): none of them can be on its way
  /// any more, nor in work. REQUIRES: !has_piece().
  bool settled() const;

  /// Sends the rest in small pieces from the next round on, smaller ones each time, so that documents that
  /// can be written are no longer refused together with those that cannot. Ends if requests fail whatever
  /// their items; then it has to be asked for more often before it is done again.
  void single_out();
  /// Whether each item is sent by itself.
  bool is_singled_out() const { return limit_.is_one(); }

  /// Gives the unwritten rest an outcome, kNotTaken or kRefused: `why` (its `item` does not count). REQUIRES:
  /// !has_piece().
  void give_back(Outcome outcome, const RefusedItem& why);

  /// Why the last item of left() was not written, or the obstacle to its piece.
  const RefusedItem& failure() const { return failure_; }

  /// The items without an outcome in a taken result. Positions of items are those in it.
  const BulkRequest& request() const { return request_; }

  /// Takes the items that have their outcomes, perhaps none, and continues with the others. `ticket` and
  /// `took` are left to the caller. REQUIRES: !has_piece(), !finished().
  BulkResult take_part();

  /// The request with all outcomes, `ticket` and `took` left to the caller. REQUIRES: finished().
  BulkResult take_result();

 private:
  struct Together {
    std::size_t items = 0;
    std::size_t bytes = 0;
  };
  /// The first items of to_send_ that go in one piece.
  Together next_together() const;
  BulkReply::Kind load_of(const BulkReply& reply) const;
  void set_outcome(std::size_t item, Outcome outcome);
  void refuse(std::size_t item, int status, std::string type, std::string reason);
  void put_off_round();
  void note_settled(bool settled);
  void note_failed();
  void note_taken(std::size_t item);
  void lift();
  void split(BulkReply reply);

  BulkRequest request_;
  std::vector<Outcome> outcomes_;
  std::vector<bool> unsettled_;        ///< items whose last piece may still be in work
  std::vector<bool> may_land_late_;    ///< likewise any piece before it
  std::vector<RefusedItem> refusals_;  ///< and why others were given back
  std::vector<bool> failed_alone_;     ///< items whose piece held nothing else and failed as a whole
  std::size_t alone_failed_ = 0;       ///< how many since they were singled out, and
  std::size_t alone_taken_ = 0;        ///< how many such pieces came through
  bool is_by_chance_ = false;          ///< an item that failed alone was taken later
  int lifts_ = 0;                      ///< how often singling out turned out to be no use
  int asked_apart_ = 0;                ///< single_out() since then, with nothing taken
  std::size_t busy_in_turn_ =
      0;                     ///< pieces of one item that were answered 429 in this round, one after the other
  std::size_t unknown_ = 0;  ///< items without outcome
  std::deque<std::size_t> to_send_;   ///< in this round, in order
  std::vector<std::size_t> on_wire_;  ///< the piece that next_piece() gave out
  std::vector<std::size_t> next_round_;
  std::size_t begin_at_ = 0;  ///< the item with which the next round begins, or the next one that is left
  BulkRequest piece_;         ///< on_wire_ as a request of its own, unless it is the whole
  std::size_t piece_bytes_ = 0;
  BulkReply::Kind load_ = BulkReply::Kind::kRetry;
  PieceLimit limit_;
  RefusedItem failure_;  ///< the last one
};

}  // namespace lockstep
