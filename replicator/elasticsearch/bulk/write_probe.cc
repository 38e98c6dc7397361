#include "replicator/elasticsearch/bulk/write_probe.h"

#include <exception>
#include <utility>

#include "replicator/clock.h"
#include "replicator/elasticsearch/bulk/bulk_response.h"

namespace lockstep {
namespace {

using Answer = WriteProbe::Answer;

std::string probe_body(const std::string& alias, const DocumentKey& key) {
  std::string body;
  append_action(body, BulkAction::kIndex, alias, key);
  body += ",\"if_seq_no\":9007199254740991,\"if_primary_term\":1}}\n{}\n";
  return body;
}

WriteProbe read_probe(const DocumentKey& key, const std::string& alias, const HttpResponse& response) {
  BulkRequest asked;
  asked.index(alias, key, DocumentVersion(), "{}");
  BulkReply reply = read_bulk_reply(asked, response);
  if (reply.kind != BulkReply::Kind::kItems)
    return {Answer::kUnknown, reply.status, std::move(reply.type), std::move(reply.reason), true};
  ItemResult& item = reply.items.front();
  if (item.outcome == Outcome::kSuperseded) return {Answer::kTaken, item.status, {}, {}, false};
  // Without a routing although the mapping wants one: the document lacks it, not the index.
  if (item.type == "routing_missing_exception") return {Answer::kTaken, item.status, {}, {}, false};
  const bool busy = item.status == 429 && item.type != "cluster_block_exception";
  const bool impossible = item.outcome == Outcome::kApplied;
  return {busy || impossible ? Answer::kUnknown : Answer::kHeld, item.status, std::move(item.type),
          std::move(item.reason), false};
}

}  // namespace

WriteProbe probe_write(HttpTransport& transport, const std::string& alias, const DocumentKey& key,
                       std::chrono::milliseconds timeout) {
  const std::string body = probe_body(alias, key);
  HttpRequest request;
  request.method = "POST";
  request.path = "/_bulk?require_alias=true&timeout=" + std::to_string(timeout.count() / 2) +
                 "ms&filter_path=" + std::string(kBulkFilterPath);
  request.body = body;
  request.content_type = "application/x-ndjson";
  request.timeout = timeout;
  const auto begun = steady_now();
  try {
    const HttpResponse response = transport.perform(request);
    WriteProbe probe = read_probe(key, alias, response);
    if (!response.server.empty() && !probe.reason.empty())
      probe.reason = response.server + ": " + probe.reason;
    return probe;
  } catch (const std::exception& error) {
    return {Answer::kUnknown, 0, {}, error.what(), steady_now() - begun < timeout / 2};
  }
}

}  // namespace lockstep
