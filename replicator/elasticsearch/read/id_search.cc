#include "replicator/elasticsearch/read/id_search.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "replicator/elasticsearch/read/document_reader.h"
#include "replicator/elasticsearch/read/document_reply.h"
#include "replicator/elasticsearch/read/request_parts.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/json_string.h"

namespace lockstep {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

constexpr std::size_t kNeighbours = 2'000;
constexpr std::size_t kCountPage = 10'000;

void append_ids_query(std::string& body, std::span<const DocumentLocation> wanted) {
  body += R"("query":{"ids":{"values":[)";
  for (const DocumentLocation& location : wanted) {
    if (!can_be_asked_for(location)) continue;
    if (body.back() != '[') body += ',';
    append_json_string(body, location.id);
  }
  body += "]}}";
}

std::string count_body(std::span<const DocumentLocation> wanted) {
  std::string body = R"({"size":0,"track_total_hits":true,)";
  append_ids_query(body, wanted);
  return body += '}';
}

// In the order of the disk: only then does the server unpack neighbours together.
std::string neighbours_body(std::span<const DocumentLocation> wanted) {
  std::string body = R"({"sort":["_doc"],"version":true,"track_total_hits":false,"size":)" +
                     std::to_string(wanted.size()) + ",";
  append_ids_query(body, wanted);
  return body += '}';
}

void read_hits(const std::string& doing, HttpResponse response, ondemand::parser& parser,
               const std::function<void(const StoredDocument&)>& sink) {
  response.body.reserve(response.body.size() + simdjson::SIMDJSON_PADDING);
  ondemand::document reply;
  ondemand::array hits;
  if (parser.iterate(response.body).get(reply) != SUCCESS) throw unreadable(doing);
  require_all_shards(doing, reply);
  if (reply["hits"]["hits"].get_array().get(hits) != SUCCESS) throw unreadable(doing);
  for (auto hit : hits) {
    FetchedDocument fetched;
    if (!read_fetched(hit, fetched) || !fetched.has_version) throw unreadable(doing);
    require_source(doing, fetched.document);
    sink(fetched.document);
  }
}

}  // namespace

NeighbourReader::NeighbourReader(ElasticsearchClient& client, std::string alias)
    : client_(client), alias_(std::move(alias)), size_(kNeighbours) {}

void NeighbourReader::fetch(std::span<const DocumentLocation> wanted, const StoredDocumentSink& sink) {
  const std::string doing = "reading documents of " + alias_;
  const std::string path =
      "/" + percent_encoded(alias_) + "/_search?request_cache=false&allow_partial_search_results=false";
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> missing;  // their positions
  for (std::size_t i = 0; i < wanted.size(); ++i)
    missing.emplace(std::pair(wanted[i].id, wanted[i].routing), i);
  ondemand::parser parser;
  in_parts(client_, size_, wanted,
           {.doing = doing,
            .path = path,
            .body = neighbours_body,
            .take = [&](std::size_t, std::span<const DocumentLocation> part, HttpResponse response) {
              read_hits(doing, std::move(response), parser, [&](const StoredDocument& document) {
                const auto found = missing.find({document.id, document.routing});
                if (found == missing.end()) return;  // the same _id under another routing
                sink(found->second, document);
                missing.erase(found);
              });
              return TakenReply{part.size()};
            }});
  // Those deleted since, or pushed out by the same _id under another routing.
  std::vector<DocumentLocation> left;
  std::vector<std::size_t> positions;
  for (const auto& [location, position] : missing) {
    left.push_back(wanted[position]);
    positions.push_back(position);
  }
  fetch_documents(client_, alias_, left, [&](std::size_t i, const std::optional<StoredDocument>& stored) {
    sink(positions[i], stored);
  });
}

std::int64_t count_documents(ElasticsearchClient& client, const std::string& alias,
                             std::span<const DocumentLocation> wanted) {
  const std::string doing = "counting documents of " + alias;
  // The request cache is for requests that come again.
  const std::string path =
      "/" + percent_encoded(alias) + "/_search?request_cache=false&allow_partial_search_results=false";
  ondemand::parser parser;
  std::int64_t count = 0;
  for (std::size_t begin = 0; begin < wanted.size(); begin += kCountPage) {
    const auto page = wanted.subspan(begin, std::min(kCountPage, wanted.size() - begin));
    HttpResponse response = client.send(doing, "POST", path, count_body(page));
    response.body.reserve(response.body.size() + simdjson::SIMDJSON_PADDING);
    ondemand::document reply;
    if (parser.iterate(response.body).get(reply) != SUCCESS) throw unreadable(doing);
    require_all_shards(doing, reply);
    std::int64_t found = 0;
    if (reply["hits"]["total"]["value"].get_int64().get(found) != SUCCESS) throw unreadable(doing);
    count += found;
  }
  return count;
}

}  // namespace lockstep
