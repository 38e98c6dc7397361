#include "replicator/elasticsearch/read/document_reader.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "replicator/elasticsearch/read/document_reply.h"
#include "replicator/elasticsearch/read/request_parts.h"
#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/json_string.h"

namespace lockstep {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

constexpr std::size_t kFetchPage = 500;

// Of a multi-get. Without contents it gives no routing unless that is asked for.
constexpr const char* kWithoutContents = "?_source=false&stored_fields=_routing";

/// An element of a reply has no status of its own: these have 429 and 503 elsewhere.
bool is_busy(const ErrorCause& cause) {
  constexpr std::string_view kBusy[] = {"es_rejected_execution_exception", "rejected_execution_exception",
                                        "no_shard_available_action_exception",
                                        "unavailable_shards_exception"};
  return cause.breaker || std::find(std::begin(kBusy), std::end(kBusy), cause.type) != std::end(kBusy);
}

Error item_error(const std::string& doing, const ErrorCause& cause) {
  std::string remedy;
  Retry retry = Retry::kLater;
  if (cause.type == "index_not_found_exception") {
    remedy = "run `lockstep apply`";
    retry = Retry::kNever;
  } else if (cause.type == "routing_missing_exception") {
    retry = Retry::kNever;
  } else if (cause.type == "security_exception") {
    remedy = "grant the user of [elasticsearch] the privilege";
  }
  return Error({doing, cause.type + ": " + cause.reason, std::move(remedy), retry, Server::kElasticsearch});
}

enum class Contents { kWanted, kNotWanted };

std::string fetch_body(std::span<const DocumentLocation> wanted) {
  std::string body = "{\"docs\":[";
  for (const DocumentLocation& location : wanted) {
    if (body.back() == '}') body += ',';
    body += "{\"_id\":";
    append_json_string(body, location.id);
    if (!location.routing.empty()) {
      body += ",\"routing\":";
      append_json_string(body, location.routing);
    }
    body += '}';
  }
  return body += "]}";
}

TakenReply tell_documents(HttpResponse response, const std::string& doing, Contents contents,
                          std::span<const DocumentLocation> wanted, ondemand::parser& parser,
                          const StoredDocumentSink& sink) {
  response.body.reserve(response.body.size() + simdjson::SIMDJSON_PADDING);
  ondemand::document reply;
  ondemand::array documents;
  if (parser.iterate(response.body).get(reply) != SUCCESS ||
      reply["docs"].get_array().get(documents) != SUCCESS) {
    throw unreadable(doing);
  }
  TakenReply told;
  for (auto element : documents) {
    FetchedDocument fetched;
    if (told.documents == wanted.size() || !read_fetched(element, fetched) ||
        fetched.document.id != wanted[told.documents].id) {
      throw unreadable(doing);
    }
    if (!fetched.error.empty()) {
      const ErrorCause cause = read_error_reply("{\"error\":" + std::string(fetched.error) + "}");
      if (!is_busy(cause)) throw item_error(doing, cause);
      told.failed = item_error(doing, cause);
      return told;
    }
    if (fetched.found && !fetched.has_version) throw unreadable(doing);
    if (fetched.found && contents == Contents::kWanted) require_source(doing, fetched.document);
    sink(told.documents++, fetched.found ? std::optional(fetched.document) : std::nullopt);
  }
  if (told.documents != wanted.size()) throw unreadable(doing);
  return told;
}

void get_documents(ElasticsearchClient& client, const std::string& alias, Contents contents,
                   std::span<const DocumentLocation> wanted, const StoredDocumentSink& sink) {
  const std::string doing = "reading documents of " + alias;
  const std::string path =
      "/" + percent_encoded(alias) + "/_mget" + (contents == Contents::kWanted ? "" : kWithoutContents);
  std::vector<DocumentLocation> asked;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!can_be_asked_for(wanted[i])) continue;
    asked.push_back(wanted[i]);
    positions.push_back(i);
  }
  std::size_t told = 0;
  const auto tell_missing_until = [&](std::size_t end) {
    while (told < end) sink(told++, std::nullopt);
  };
  ondemand::parser parser;
  ReplySize size(kFetchPage, contents == Contents::kWanted ? kCautiousRequest : kFetchPage);
  in_parts(client, size, asked,
           {.doing = doing,
            .path = path,
            .body = fetch_body,
            .take = [&](std::size_t begin, std::span<const DocumentLocation> part, HttpResponse response) {
              return tell_documents(std::move(response), doing, contents, part, parser,
                                    [&](std::size_t position, const std::optional<StoredDocument>& document) {
                                      tell_missing_until(positions[begin + position]);
                                      sink(told++, document);
                                    });
            }});
  tell_missing_until(wanted.size());
}

}  // namespace

void fetch_documents(ElasticsearchClient& client, const std::string& alias,
                     std::span<const DocumentLocation> wanted, const StoredDocumentSink& sink) {
  get_documents(client, alias, Contents::kWanted, wanted, sink);
}

void look_up_documents(ElasticsearchClient& client, const std::string& alias,
                       std::span<const DocumentLocation> wanted, const StoredDocumentSink& sink) {
  get_documents(client, alias, Contents::kNotWanted, wanted, sink);
}

}  // namespace lockstep
