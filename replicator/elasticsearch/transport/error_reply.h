// Reads the `error` object of a reply or of a bulk item. The program judges it by `type` only; `reason` is
// for people.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

/// The longest `reason` kept, in bytes.
inline constexpr std::size_t kMaxReasonBytes = 2'000;

struct ErrorCause {
  std::string type = {};  ///< "mapper_parsing_exception"; empty if it is no error of Elasticsearch's own
  /// A circuit breaker stopped it, or the limit of scripts compiled in a minute, whatever the status
  /// (Elasticsearch 7: 400): the same request works later.
  bool breaker = false;
  /// "<reason>: <innermost cause's reason>" in one line, at most kMaxReasonBytes; no secrets.
  std::string reason = {};
};

/// An error's text without any value of a document: "mapper_parsing_exception: failed to parse field [age] of
/// type [long]"; the type alone if the reason is of no known form. For logs, which have other readers than
/// the documents.
std::string without_values(const std::string& type, std::string_view reason);

/// A reason up to its quotation of the request, with the documents in it.
std::string without_request(std::string_view reason);

/// Reads an `error` element: {"type": …, "reason": …, "caused_by": {…}}, or a bare string (type stays empty).
ErrorCause read_error_cause(simdjson::dom::element error);

/// Reads the body of a reply. For anything but Elasticsearch's {"error": {"type": …}} (a proxy's page) the
/// type is empty, and the reason describes the body: never its text, which may quote the request.
ErrorCause read_error_reply(std::string_view body);

/// Whether the same request may work later, by the HTTP status of the reply or of one item in it: a time-out,
/// an overloaded server, or one that is away. Other conditions worth another try are for the caller to add,
/// with the reason.
bool may_work_later(std::int64_t status);

/// The remedy of a cluster_block_exception, by the numbers of the blocks that its reason names: "index [a]
/// blocked by: [FORBIDDEN/8/index write (api)];".
std::string remedy_of_blocks(std::string_view reason);

/// Shortens UTF-8 text to at most `max_bytes`, cut between characters; "…" replaces the rest.
std::string shortened(std::string_view text, std::size_t max_bytes);

}  // namespace lockstep
