// One bulk request on its way until every item has an outcome: which items to send next, in pieces of which
// size, and what the replies mean for them. No network, no clock, no threads: the bulk writer drives it.
//
// Invariant D1: every item is in exactly one of four places: to be sent in this round, in the piece on the
//   wire, to be sent again in the next round, or with an outcome.
// Invariant D2: an item gets its outcome once, and only from a reply that fits it.
// Invariant D3: each split makes the piece smaller, so a round ends.
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

/// How much of a request goes into one piece, apart from what the congestion window allows. A piece that
/// failed as a whole halves it, to find out what is to blame; one that came through doubles it.
class PieceLimit {
 public:
  std::size_t items() const { return items_; }
  std::size_t bytes() const { return bytes_; }

  void came_through();
  /// Rejected, timed out or cut off while handling a piece of so many items.
  void too_much(std::size_t piece_items);
  /// 413 for a piece of so many bytes. Not taken back: the server's limit will not change while we send.
  void too_large(std::size_t piece_bytes);

 private:
  std::size_t items_ = static_cast<std::size_t>(-1);
  std::size_t bytes_ = static_cast<std::size_t>(-1);
};

class BulkDelivery {
 public:
  explicit BulkDelivery(BulkRequest request);

  /// Whether every item has its outcome.
  bool finished() const { return unknown_ == 0; }

  /// Whether a piece can be sent without waiting. If not and !finished(), wait, then begin_round().
  bool has_piece() const { return !to_send_.empty(); }

  /// The next piece, of at most so many bytes unless one document alone has more; valid until it is
  /// answered() or unanswered(). REQUIRES: has_piece(), no piece on the wire.
  const BulkRequest& next_piece(std::size_t most_bytes = static_cast<std::size_t>(-1));

  /// The piece's reply has come. Returns how many items got their outcome.
  std::size_t answered(BulkReply reply);

  /// No reply has come. `sent`: whether the server may have got the piece. The rest of the round is put off.
  void unanswered(bool sent, std::string reason);

  /// What the fate of the last piece says about how much the server can take.
  enum class Load {
    kUnknown,     ///< it failed for another reason
    kTaken,       ///< it came through
    kOverloaded,  ///< 429 or 503 for all or some of it, or no reply
    kTooLarge,    ///< 413, and not for a single document's sake
  };
  Load load() const { return load_; }

  /// Bytes of the last piece.
  std::size_t piece_bytes() const { return piece_bytes_; }

  /// Takes up what has to be sent again.
  void begin_round();

  /// Why the last item that has to be sent again has to be; empty before the first.
  const std::string& reason() const { return reason_; }

  /// The request with all outcomes, `ticket` and `took` left to the caller. REQUIRES: finished().
  BulkResult take_result();

 private:
  Load load_of(const BulkReply& reply) const;
  void settle(std::size_t item, Outcome outcome);
  void refuse(std::size_t item, int status, std::string type, std::string reason);
  void put_off_round();
  void split(BulkReply reply);

  BulkRequest request_;
  std::vector<Outcome> outcomes_;
  std::vector<RefusedItem> refusals_;
  std::size_t unknown_ = 0;           ///< items without outcome
  std::deque<std::size_t> to_send_;   ///< in this round, in order
  std::vector<std::size_t> on_wire_;  ///< the piece that next_piece() gave out
  std::vector<std::size_t> next_round_;
  BulkRequest piece_;  ///< on_wire_ as a request of its own, unless it is the whole
  std::size_t piece_bytes_ = 0;
  Load load_ = Load::kUnknown;
  PieceLimit limit_;
  std::string reason_;
};

}  // namespace lockstep
