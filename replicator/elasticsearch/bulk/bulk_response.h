// Reads the reply to a bulk request: what has become of every item. Judged by `status` and `error.type`,
// never by text, and only when the reply fits the request item by item; anything else is no outcome but a
// reason to ask again.
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
    kApplied,     ///< 2xx, or a delete of what isn't there
    kSuperseded,  ///< 409 version conflict: a newer version is there
    kRefused,     ///< for good
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
    kRetry,     ///< nothing is known of any item: the same request may work later
    kTooLarge,  ///< 413: none was applied, smaller requests may work
    kRejected,  ///< 400 of the whole: none was applied, one of the items is to blame
  };
  Kind kind = Kind::kItems;
  std::vector<ItemResult> items;  ///< empty unless kItems
  int status = 0;                 ///< HTTP status of the reply
  std::string type;               ///< unless kItems: error.type, or "content_too_large"; may be empty
  std::string reason;             ///< unless kItems: one line, with the remedy where there is one
};

/// What came back for `request`, sent with its guard lines. Never throws for what the server sent.
BulkReply read_bulk_reply(const BulkRequest& request, const HttpResponse& response);

}  // namespace lockstep
