// A _bulk request of a few small items and the outcome of each. For locks: the caller judges the items one by
// one and sends an item again only if it knows why.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/operation.h"

namespace lockstep {

struct BulkOutcome {
  int status = 0;
  std::string result;      ///< "created", "updated", "deleted", "noop", "not_found"; empty after an error
  JournalVersion version;  ///< the document's sequence number and primary term
  nlohmann::json source;   ///< the answer to `_source` in the request, else null
  std::string error_type;
  std::string error_reason;
  bool breaker = false;  ///< see ErrorCause
};

class BulkCall {
 public:
  explicit BulkCall(std::string index) : index_(std::move(index)) {}

  /// Appends `action` ("update", "create", "index", "delete") on a document. `options` (if_seq_no,
  /// retry_on_conflict) go into the action line with the id; `body` is null for a delete.
  void add(const char* action, const std::string& id, nlohmann::json options, const nlohmann::json& body);

  bool empty() const { return items_ == 0; }
  std::size_t size() const { return items_; }

  /// Returns one outcome for each item, in order. An index of one shard runs the items in this order. Throws
  /// Error as the client does: also a retryable one if an item may work later (may_work_later()), and a final
  /// one for an item that the engine does not understand (4xx but 404 and 409).
  std::vector<BulkOutcome> send(ElasticsearchClient& client, const std::string& doing) const;

 private:
  std::string index_;
  std::string body_;
  std::size_t items_ = 0;
};

}  // namespace lockstep
