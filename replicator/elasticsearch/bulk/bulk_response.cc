#include "replicator/elasticsearch/bulk/bulk_response.h"

#include <simdjson.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {
namespace {

using simdjson::SUCCESS;
using simdjson::dom::element;

constexpr std::string_view kNoIndex = "index_not_found_exception";
constexpr std::string_view kVersionConflict = "version_conflict_engine_exception";
constexpr std::string_view kIndexClosed = "index_closed_exception";
constexpr std::string_view kBlocked = "cluster_block_exception";
// Many things, about a document or about its index: an alias without a write index, a pipeline that is
// missing.
constexpr std::string_view kIllegalArgument = "illegal_argument_exception";

std::string_view action_name(BulkAction action) {
  return action == BulkAction::kIndex ? "index" : "delete";
}

bool is_2xx(int status) {
  return status >= 200 && status <= 299;
}

/// Statuses that are about the server, its load or our credentials, never about the document.
bool is_temporary(int status) {
  // 401, 403: credentials rotate and privileges are granted later, and no document may be given up for that.
  return status == 401 || status == 403 || may_work_later(status);
}

Outcome judge(BulkAction action, int status, std::string_view error_type) {
  if (is_2xx(status)) return Outcome::kApplied;
  if (status == 404 && action == BulkAction::kDelete && error_type.empty()) return Outcome::kApplied;
  if (status == 409 && error_type == kVersionConflict) return Outcome::kSuperseded;
  if (is_temporary(status)) return Outcome::kNotTaken;
  if (error_type == kNoIndex || error_type == kIndexClosed || error_type == kBlocked)
    return Outcome::kNotTaken;
  return error_type == kIllegalArgument ? Outcome::kDoubtful : Outcome::kRefused;
}

std::string remedy(int status, const ErrorCause& cause) {
  if (cause.type == kNoIndex) return "run `lockstep apply` to create the index and its alias";
  if (cause.type == kIndexClosed) return "open the index";
  if (cause.type == kBlocked) return remedy_of_blocks(cause.reason);
  if (status == 401 || status == 403) return "check the credentials and their privileges on the indices";
  return {};
}

std::string explained(int status, const ErrorCause& cause) {
  std::string text = "HTTP " + std::to_string(status);
  if (!cause.type.empty()) text += " " + cause.type;
  if (!cause.reason.empty()) text += ": " + cause.reason;
  const std::string advice = remedy(status, cause);
  if (!advice.empty()) text.append("; ").append(advice);
  return text;
}

BulkReply retry(const HttpResponse& response, std::string_view why) {
  return {BulkReply::Kind::kRetry, {}, response.status, {}, std::string(why)};
}

/// One item's result; none if `answer` does not fit the item that was asked.
std::optional<ItemResult> read_item(const BulkItem& asked, element answer) {
  element outcome;
  std::string_view id;
  std::int64_t status = 0;
  if (answer[action_name(asked.action)].get(outcome) != SUCCESS) return std::nullopt;
  if (outcome["_id"].get(id) != SUCCESS || id != asked.key.id.text) return std::nullopt;
  if (outcome["status"].get(status) != SUCCESS || status < 100 || status > 599) return std::nullopt;

  ErrorCause cause;
  element error;
  if (outcome["error"].get(error) == SUCCESS) cause = read_error_cause(error);

  ItemResult result;
  result.status = static_cast<int>(status);
  result.outcome = judge(asked.action, result.status, cause.type);
  if (result.outcome == Outcome::kRefused || result.outcome == Outcome::kDoubtful) {
    result.type = std::move(cause.type);
    result.reason = std::move(cause.reason);
  } else if (result.outcome == Outcome::kNotTaken) {
    cause.reason = without_request(cause.reason);
    result.reason = explained(result.status, cause);
    result.type = std::move(cause.type);
  }
  return result;
}

BulkReply read_items(const BulkRequest& request, const HttpResponse& response) {
  constexpr std::string_view kMisfit =
      "the reply does not fit the bulk request; is there a proxy in between?";
  simdjson::dom::parser parser;
  element root;
  const bool is_readable = parser.parse(response.body.data(), response.body.size()).get(root) == SUCCESS;
  if (!is_readable && parser.parse(without_lone_surrogates(response.body)).get(root) != SUCCESS) {
    return retry(response,
                 "the reply to the bulk request is not complete JSON; is there a proxy in between?");
  }
  bool errors = false;
  simdjson::dom::array answers;
  if (root["errors"].get(errors) != SUCCESS || root["items"].get(answers) != SUCCESS) {
    return retry(response, kMisfit);
  }

  const std::vector<BulkItem>& asked = request.items();
  BulkReply reply{BulkReply::Kind::kItems, {}, response.status, {}, {}};
  reply.items.reserve(asked.size());
  bool has_guard = false;
  for (const element answer : answers) {
    if (reply.items.size() == asked.size()) {
      if (std::exchange(has_guard, true)) return retry(response, kMisfit);
    } else if (!errors) {
      // Every item succeeded, so only their number is left to check.
      reply.items.emplace_back();
      reply.items.back().status = 200;
    } else {
      std::optional<ItemResult> result = read_item(asked[reply.items.size()], answer);
      if (!result) return retry(response, kMisfit);
      reply.items.push_back(std::move(*result));
    }
  }
  if (reply.items.size() != asked.size() || has_guard != request.needs_guard())
    return retry(response, kMisfit);
  return reply;
}

}  // namespace

BulkReply read_bulk_reply(const BulkRequest& request, const HttpResponse& response) {
  if (is_2xx(response.status)) return read_items(request, response);

  ErrorCause cause = read_error_reply(response.body);
  if (response.status == 413) {
    // A proxy's or Elasticsearch's own; the latter sends no body.
    std::string reason = "the document is larger than Elasticsearch or a proxy accepts in one request";
    if (!cause.reason.empty()) reason += ": " + cause.reason;
    return {BulkReply::Kind::kTooLarge, {}, 413, "content_too_large", std::move(reason)};
  }
  const bool refused = response.status == 400 && !cause.type.empty() &&
                       judge(BulkAction::kIndex, response.status, cause.type) != Outcome::kNotTaken;
  if (refused) {
    return {BulkReply::Kind::kRejected, {}, 400, std::move(cause.type), std::move(cause.reason)};
  }
  cause.reason = without_request(cause.reason);
  std::string reason = explained(response.status, cause);
  const auto kind = tells_overload(response.status) ? BulkReply::Kind::kOverloaded : BulkReply::Kind::kRetry;
  return {kind, {}, response.status, std::move(cause.type), std::move(reason)};
}

}  // namespace lockstep
