// Reads the reply to a bulk request: every item's outcome. It judges by `status` and `error.type`, never by
// text, and only a reply that fits the request item by item. Any other reply is a reason to send again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/elasticsearch/bulk/bulk_request.h"
#include "replicator/elasticsearch/bulk/bulk_result.h"
#include "replicator/elasticsearch/transport/http_transport.h"

namespace lockstep {

/// `filter_path` of a bulk request: all that read_bulk_reply() looks at.
inline constexpr std::string_view kBulkFilterPath = "errors,items.*._id,items.*.status,items.*.error";

struct ItemResult {
  Outcome outcome = Outcome::kApplied;
  int status = 0;      ///< HTTP status of the item
  std::string type;    ///< error.type; empty if applied or superseded
  std::string reason;  ///< for people, with the remedy if there is one; empty if applied or superseded
};

struct BulkReply {
  enum class Kind : std::uint8_t {
    kItems,       ///< `items` has one result for each item of the request
    kOverloaded,  ///< no outcome is known, and Elasticsearch has too much to do (429, 503): later, and less
    kRetry,       ///< no outcome is known, for another reason: the same request may work later
    kTooLarge,    ///< 413: no item was applied, smaller requests may work
    kRejected,    ///< 400 for the whole request: no item was applied, one of them is to blame
  };
  Kind kind = Kind::kItems;
  std::vector<ItemResult> items;  ///< empty unless kItems
  int status = 0;                 ///< HTTP status of the reply
  std::string type;               ///< unless kItems: error.type, or "content_too_large"; may be empty
  std::string reason;             ///< unless kItems: one line, with the remedy if there is one
};

/// Whether an HTTP status means that Elasticsearch has too much to do.
inline bool tells_overload(int status) {
  return status == 429 || status == 503;
}

/// Reads the reply to `request`, which was sent with its guard lines. Never throws for the server's answer.
BulkReply read_bulk_reply(const BulkRequest& request, const HttpResponse& response);

}  // namespace lockstep
