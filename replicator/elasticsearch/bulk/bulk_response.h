// Reads the reply to a bulk request: what became of every item. It judges by `status` and `error.type`, never
// by text, and only a reply that fits the request item by item. Any other reply is a reason to send again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/elasticsearch/bulk/bulk_request.h"
#include "replicator/elasticsearch/transport/http_transport.h"

namespace lockstep {

/// `filter_path` of a bulk request: all that read_bulk_reply() looks at.
inline constexpr std::string_view kBulkFilterPath = "errors,items.*._id,items.*.status,items.*.error";

struct ItemResult {
  enum class Verdict : std::uint8_t {
    kApplied,     ///< 2xx, or a delete of a document that does not exist
    kSuperseded,  ///< 409 version conflict: Elasticsearch has a newer version
    kRefused,     ///< for good
    kDoubtful,    ///< refused, for good if the index takes other writes (write_probe.h)
    kRetry,       ///< may work later
  };
  Verdict verdict = Verdict::kApplied;
  int status = 0;      ///< HTTP status of the item
  std::string type;    ///< error.type; empty when applied or superseded
  std::string reason;  ///< for people, with the remedy where there is one; empty when applied or superseded
};

struct BulkReply {
  enum class Kind : std::uint8_t {
    kItems,     ///< `items` has one result for each item of the request
    kRetry,     ///< no outcome is known: the same request may work later
    kTooLarge,  ///< 413: no item was applied, smaller requests may work
    kRejected,  ///< 400 for the whole request: no item was applied, one of them is to blame
  };
  Kind kind = Kind::kItems;
  std::vector<ItemResult> items;  ///< empty unless kItems
  int status = 0;                 ///< HTTP status of the reply
  std::string type;               ///< unless kItems: error.type, or "content_too_large"; may be empty
  std::string reason;             ///< unless kItems: one line, with the remedy where there is one
};

/// Reads the reply to `request`, which was sent with its guard lines. Never throws for what the server sent.
BulkReply read_bulk_reply(const BulkRequest& request, const HttpResponse& response);

}  // namespace lockstep
