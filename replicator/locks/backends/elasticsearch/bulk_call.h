// A _bulk request of a few small operations and what became of each: for locks, where items are judged one by
// one and sent again only by who knows why.
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
  std::string result;      ///< "created", "updated", "deleted", "noop", "not_found"; empty for an error
  JournalVersion version;  ///< the document's sequence number and primary term
  nlohmann::json source;   ///< what `_source` in the request asked for; else null
  std::string error_type;
  std::string error_reason;
};

class BulkCall {
 public:
  explicit BulkCall(std::string index) : index_(std::move(index)) {}

  /// Appends `action` ("update", "create", "index", "delete") on a document. `options` go into the action
  /// line beside its id (if_seq_no, retry_on_conflict); `body` is null for a delete.
  void add(const char* action, const std::string& id, nlohmann::json options, const nlohmann::json& body);

  bool empty() const { return items_ == 0; }
  std::size_t size() const { return items_; }

  /// One outcome an item, in order. Items run in this order on an index of one shard. Throws Error as the
  /// client does, a retryable one also when an item was turned away for now (429, 5xx), a final one for an
  /// item that the engine does not understand (4xx but 404 and 409).
  std::vector<BulkOutcome> send(ElasticsearchClient& client, const std::string& doing) const;

 private:
  std::string index_;
  std::string body_;
  std::size_t items_ = 0;
};

}  // namespace lockstep
