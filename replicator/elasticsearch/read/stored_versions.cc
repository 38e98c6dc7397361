#include "replicator/elasticsearch/read/stored_versions.h"

#include <nlohmann/json.hpp>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {
namespace {

using nlohmann::json;

std::string body_of(std::span<const DocumentLocation> wanted) {
  json documents = json::array();
  for (const DocumentLocation& location : wanted) {
    json document = {{"_id", location.id}};
    if (!location.routing.empty()) document["routing"] = location.routing;
    documents.push_back(std::move(document));
  }
  return dumped(json{{"docs", std::move(documents)}});
}

Error not_as_asked(const std::string& doing) {
  return Error({doing, "the reply does not fit the request", "is there a proxy in between?", Retry::kLater,
                Server::kElasticsearch});
}

std::optional<StoredVersion> read_version(const std::string& doing, const json& reply) {
  if (reply.contains("error")) throw not_as_asked(doing);
  const auto found = reply.find("found");
  if (found == reply.end() || *found != true) return std::nullopt;
  const auto version = integer_at(reply, "_version");
  const auto seq_no = integer_at(reply, "_seq_no");
  const auto primary_term = integer_at(reply, "_primary_term");
  if (!version || !seq_no || !primary_term) throw not_as_asked(doing);
  return StoredVersion{DocumentVersion::from_value(*version), *seq_no, *primary_term};
}

}  // namespace

std::vector<std::optional<StoredVersion>> stored_versions(ElasticsearchClient& client,
                                                          const std::string& alias,
                                                          std::span<const DocumentLocation> wanted) {
  const std::string doing = "reading versions from " + alias;
  const json reply =
      client.send_json(doing, "POST", "/" + percent_encoded(alias) + "/_mget?_source=false", body_of(wanted));
  const auto documents = reply.find("docs");
  if (documents == reply.end() || !documents->is_array() || documents->size() != wanted.size())
    throw not_as_asked(doing);
  std::vector<std::optional<StoredVersion>> versions;
  versions.reserve(wanted.size());
  for (const json& document : *documents) versions.push_back(read_version(doing, document));
  return versions;
}

void remove_if_unchanged(ElasticsearchClient& client, const std::string& alias,
                         const DocumentLocation& document, const StoredVersion& state) {
  std::string path = "/" + percent_encoded(alias) + "/_doc/" + percent_encoded(document.id) +
                     "?if_seq_no=" + std::to_string(state.seq_no) +
                     "&if_primary_term=" + std::to_string(state.primary_term);
  if (!document.routing.empty()) path += "&routing=" + percent_encoded(document.routing);
  client.send("removing a document from " + alias, "DELETE", path, {}, {kNotFound, kConflict});
}

}  // namespace lockstep
