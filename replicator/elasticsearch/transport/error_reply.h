// What Elasticsearch says when it refuses: the `error` object of a reply or of a bulk item. Judged by `type`
// only; `reason` is for people.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep {

/// The longest `reason` kept, in bytes.
inline constexpr std::size_t kMaxReasonBytes = 2'000;

struct ErrorCause {
  std::string type;  ///< "mapper_parsing_exception"; empty: not an error of Elasticsearch's own
  std::string
      reason;  ///< "<reason>: <innermost cause's reason>" in one line, at most kMaxReasonBytes; no secrets
};

/// Of an `error` element: {"type": …, "reason": …, "caused_by": {…}}, or a bare string (type stays empty).
ErrorCause read_error_cause(simdjson::dom::element error);

/// Of a whole reply's body. Anything that is not Elasticsearch's JSON (a proxy's page) gives an empty type
/// and the beginning of the text, in one line, as reason.
ErrorCause read_error_reply(std::string_view body);

/// At most `max_bytes` of UTF-8 text, cut between characters; what was cut leaves "…".
std::string shortened(std::string_view text, std::size_t max_bytes);

}  // namespace lockstep
