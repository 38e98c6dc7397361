// What is to blame when writes are not taken: Elasticsearch as a whole, an index, or documents of their own.
// Asks with writes that change nothing (write_probe.h).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/bulk/bulk_delivery.h"
#include "replicator/elasticsearch/bulk/bulk_response.h"
#include "replicator/elasticsearch/transport/http_transport.h"
#include "replicator/ids.h"

namespace lockstep {

/// An index, as it is written.
struct BulkTarget {
  IndexId index;
  std::string alias;
};

/// Why what is left of a request is repeated.
enum class Blame {
  kUnknown,    ///< nobody knows: Elasticsearch is away, or overloaded
  kTogether,   ///< the index takes writes; these were refused together so far, and are sent apart now
  kDocuments,  ///< the index takes writes, but not of these documents
};

/// May be used by several threads at once, each with a transport of its own.
class BulkBlame {
 public:
  /// `targets`: all indices; where one is too busy for any write, others are asked whether they take writes.
  /// `timeout` of a question, at most. `may_ask`: asked before each question, from any thread.
  BulkBlame(std::vector<BulkTarget> targets, std::chrono::milliseconds timeout,
            std::function<bool()> may_ask);

  /// Gives back what its index does not take (kHeld). `is_long`: it was tried for long, so documents that are
  /// refused one by one are given back, too (kPutOff), and those of an index that is busy alone. Returns what
  /// is to blame for the rest. REQUIRES: !delivery.has_piece().
  Blame give_back(HttpTransport& transport, BulkDelivery& delivery, bool is_long) const;

  /// Settles which items of a reply were refused for good: those whose index takes other writes.
  void settle_doubts(HttpTransport& transport, const BulkRequest& piece, BulkReply& reply) const;

 private:
  bool takes_others(HttpTransport& transport, IndexId index) const;

  const std::vector<BulkTarget> targets_;
  const std::chrono::milliseconds timeout_;
  const std::function<bool()> may_ask_;
};

}  // namespace lockstep
