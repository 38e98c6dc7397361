// The outcome of a bulk request, item by item.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "replicator/elasticsearch/bulk/bulk_request.h"

namespace lockstep {

/// The fate of one item.
///
///              ┌── kDoubtful ──┐ the index takes other writes
///   in flight ─┼── kRefused ◀──┴─ of a reply, or time and again while the index takes writes: dead letter
///              ├── kApplied, kSuperseded
///              └── kNotTaken ── of a reply: sent again; of a result: due again
enum class Outcome : std::uint8_t {
  kApplied,     ///< 2xx, or a delete of a document that does not exist (404)
  kSuperseded,  ///< 409 version conflict: Elasticsearch has a newer version
  kRefused,     ///< for good
  kNotTaken,  ///< may work later; in a result: its index takes no writes now, whichever document they are of
  kDoubtful,  ///< only in a reply: refused, for good if the index takes other writes (write_probe.h)
};

/// Why Elasticsearch did not write an item.
struct RefusedItem {
  std::size_t item = 0;  ///< position in the request
  int status = 0;        ///< HTTP status of the item; 0: there was no reply
  std::string type;      ///< error.type, e.g. "mapper_parsing_exception"
  std::string reason;    ///< error.reason with its innermost cause, shortened to 2,000 bytes
};

/// Of a request, or of the part of it that has its outcomes while the rest is repeated.
struct BulkResult {
  std::uint64_t ticket = 0;           ///< the result of BulkWriter::submit()
  bool is_last = true;                ///< false: another result of the ticket follows, with the rest
  bool rest_is_refused = false;       ///< the rest is repeated although its index takes other writes
  BulkRequest request;                ///< empty: all of it is repeated
  std::vector<Outcome> outcomes;      ///< one for each item of the request, in its order
  std::vector<bool> may_land_late;    ///< likewise: an earlier try of it had no answer
  std::vector<RefusedItem> refusals;  ///< one for each kRefused and kNotTaken
  std::chrono::microseconds took{};   ///< from submit() to the last outcome
};

}  // namespace lockstep
