#include "replicator/locks/backends/elasticsearch/bulk_call.h"

#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/locks/backends/elasticsearch/lock_json.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr const char* kClusterBlock = "cluster_block_exception";
constexpr const char* kReplyFields =
    "?filter_path=took,items.*.status,items.*.result,items.*._seq_no,items.*._primary_term,items.*.get._"
    "source,"
    "items.*.error";

BulkOutcome read_outcome(const json& item) {
  BulkOutcome outcome;
  outcome.status = static_cast<int>(integer_at(item, "status").value_or(0));
  outcome.result = text_at(item, "result");
  outcome.version = version_of(item);
  const json get = object_at(item, "get");
  if (get.contains("_source")) outcome.source = get.at("_source");
  if (item.contains("error")) {
    simdjson::dom::parser parser;
    simdjson::dom::element error;
    const std::string text = dumped(item.at("error"));
    if (parser.parse(text).get(error) == simdjson::SUCCESS) {
      ErrorCause cause = read_error_cause(error);
      outcome.error_type = std::move(cause.type);
      outcome.error_reason = std::move(cause.reason);
      outcome.breaker = cause.breaker;
    }
  }
  return outcome;
}

std::string remedy_of(const BulkOutcome& outcome) {
  if (outcome.error_type == "index_not_found_exception") return "it was deleted while it was used";
  if (outcome.error_type == kClusterBlock) return remedy_of_blocks(outcome.error_reason);
  return "";
}

void require_understood(const std::string& doing, const BulkOutcome& outcome) {
  const int status = outcome.status;
  // 404: the document is missing, which is an answer, or the index, which is not.
  const bool answered = (status >= 200 && status <= 299) || status == 409 ||
                        (status == 404 && outcome.error_type != "index_not_found_exception");
  if (answered) return;
  // 0: the item has no status, so the reply is not whole, and the next one may be.
  const bool later =
      status == 0 || may_work_later(status) || outcome.breaker || outcome.error_type == kClusterBlock;
  throw Error({doing,
               "HTTP " + std::to_string(status) + " " + outcome.error_type + ": " + outcome.error_reason,
               remedy_of(outcome), later ? Retry::kLater : Retry::kNever, Server::kElasticsearch});
}

}  // namespace

void BulkCall::add(const char* action, const std::string& id, json options, const json& body) {
  options["_id"] = id;
  body_ += dumped({{action, std::move(options)}});
  body_ += '\n';
  if (!body.is_null()) {
    body_ += dumped(body);
    body_ += '\n';
  }
  ++items_;
}

std::vector<BulkOutcome> BulkCall::send(ElasticsearchClient& client, const std::string& doing) const {
  std::vector<BulkOutcome> outcomes;
  if (empty()) return outcomes;
  const json reply =
      client.send_json(doing, "POST", "/" + percent_encoded(index_) + "/_bulk" + kReplyFields, body_);
  const auto items = reply.find("items");
  if (items != reply.end() && items->is_array()) {
    for (const json& item : *items) {
      if (item.is_object() && !item.empty()) outcomes.push_back(read_outcome(item.begin().value()));
    }
  }
  if (outcomes.size() != items_) {
    throw Error({doing,
                 "the reply has " + std::to_string(outcomes.size()) + " outcomes for " +
                     std::to_string(items_) + " operations",
                 "is there a proxy in between?", Retry::kLater, Server::kElasticsearch});
  }
  for (const BulkOutcome& outcome : outcomes) require_understood(doing, outcome);
  return outcomes;
}

}  // namespace lockstep
