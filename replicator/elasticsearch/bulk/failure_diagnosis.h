// The cause if writes are not taken: Elasticsearch as a whole, an index, or single documents. Asks with
// writes that change nothing (write_probe.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/elasticsearch/bulk/bulk_delivery.h"
#include "replicator/elasticsearch/bulk/bulk_response.h"
#include "replicator/elasticsearch/bulk/write_probe.h"
#include "replicator/elasticsearch/transport/http_transport.h"
#include "replicator/ids.h"
#include "replicator/mutex.h"

namespace lockstep {

/// An index, as it is written.
struct BulkTarget {
  IndexId index;
  std::string alias;
};

/// May be used by several threads at once, each with a transport of its own.
class FailureDiagnosis {
 public:
  /// `targets`: all indices; if one is too busy for any write, others are asked whether they take writes.
  /// `timeout` of a question, at most. `may_ask`: asked before each question, from any thread.
  FailureDiagnosis(std::vector<BulkTarget> targets, std::chrono::milliseconds timeout,
                   std::function<bool()> may_ask);

  /// Elasticsearch has answered the piece: its indices take writes, as far as it reports.
  void note_taken(const BulkRequest& piece, const BulkReply& reply);

  /// Sends the rest apart from the next round on, if its index takes writes. REQUIRES: !delivery.has_piece().
  void single_out(HttpTransport& transport, BulkDelivery& delivery) const;

  /// Gives back the rest if its index does not take it (kNotTaken). `is_long`: it was tried for long, so
  /// documents that are refused one by one are given back, too (kRefused), and those of an index that is busy
  /// alone. Documents that were refused together so far are sent apart from the next round on. Returns
  /// whether the documents are to blame for the rest, since their index takes writes. REQUIRES:
  /// !delivery.finished(), !delivery.has_piece().
  bool give_back(HttpTransport& transport, BulkDelivery& delivery, bool is_long) const;

  /// Settles which items of a reply were refused for good: those whose index takes other writes.
  void settle_doubts(HttpTransport& transport, const BulkRequest& piece, BulkReply& reply) const;

 private:
  WriteProbe ask(HttpTransport& transport, std::string_view alias, const DocumentKey& document) const;
  WriteProbe ask_of_index(HttpTransport& transport, std::string_view alias,
                          const DocumentKey& document) const;
  std::vector<BulkTarget> others_of(IndexId index) const;
  bool takes_others(HttpTransport& transport, IndexId index) const;

  const std::vector<BulkTarget> targets_;
  const std::chrono::milliseconds timeout_;
  const std::function<bool()> may_ask_;
  mutable Mutex mutex_;
  /// A greater number for a later write.
  std::map<IndexId, std::uint64_t> taken_ LOCKSTEP_GUARDED_BY(mutex_);
  std::uint64_t last_taken_ LOCKSTEP_GUARDED_BY(mutex_) = 0;
};

}  // namespace lockstep
