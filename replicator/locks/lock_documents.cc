#include "replicator/locks/lock_documents.h"

#include <algorithm>

#include "replicator/elasticsearch/document_reader.h"
#include "replicator/elasticsearch/json_fields.h"
#include "replicator/elasticsearch/text_encoding.h"
#include "replicator/locks/lock_json.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr int kNotFound = 404;
constexpr int kConflict = 409;

StoredLock stored_lock(const std::string& id, const json& reply) {
  StoredLock lock;
  lock.source = object_at(reply, "_source");
  lock.state = read_lock(id, lock.source);
  lock.version = {integer_at(reply, "_seq_no").value_or(0), integer_at(reply, "_primary_term").value_or(0)};
  return lock;
}

}  // namespace

ServerTime read_server_time(ElasticsearchClient& client) {
  const std::string doing = "reading the server's clock";
  const json reply = client.send_json(doing, "GET", "/_nodes/_master/stats/os?filter_path=nodes.*.timestamp");
  for (const json& node : object_at(reply, "nodes")) {
    if (const auto timestamp = integer_at(node, "timestamp")) return server_time(*timestamp);
  }
  throw Error({doing, "the cluster has no elected master", "wait until it has one", Retry::kLater,
               Server::kElasticsearch});
}

StoredLockDocuments::StoredLockDocuments(ElasticsearchClient& client, std::string index)
    : client_(client), index_(std::move(index)) {}

std::optional<StoredLock> StoredLockDocuments::read(const LockName& name) {
  return read_all({document_id(name)}).at(0);
}

std::vector<std::optional<StoredLock>> StoredLockDocuments::read_all(const std::vector<std::string>& ids) {
  const std::string doing = "reading locks of " + index_;
  const json reply =
      client_.send_json(doing, "POST", "/" + percent_encoded(index_) + "/_mget", dumped({{"ids", ids}}));
  const json documents = reply.value("docs", json::array());
  if (documents.size() != ids.size()) {
    throw Error({doing, "the reply is not complete", "", Retry::kLater, Server::kElasticsearch});
  }
  std::vector<std::optional<StoredLock>> locks;
  locks.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const json& document = documents[i];
    if (document.contains("error")) {
      throw Error({doing, dumped(document.at("error")), "", Retry::kLater, Server::kElasticsearch});
    }
    const bool found = document.value("found", false);
    locks.push_back(found ? std::optional(stored_lock(ids[i], document)) : std::nullopt);
  }
  return locks;
}

std::vector<LockState> StoredLockDocuments::all() {
  client_.refresh(index_);
  std::vector<LockState> locks;
  scan_documents(client_, index_, {}, [&](std::span<const StoredDocument> page) {
    std::vector<std::string> ids;
    ids.reserve(page.size());
    for (const StoredDocument& document : page) ids.emplace_back(document.id);
    for (const std::optional<StoredLock>& lock : read_all(ids)) {
      if (lock && lock->state) locks.push_back(*lock->state);
    }
  });
  std::sort(locks.begin(), locks.end(),
            [](const LockState& a, const LockState& b) { return a.name < b.name; });
  return locks;
}

bool StoredLockDocuments::remove(const LockName& name, JournalVersion version) {
  const std::string path = "/" + percent_encoded(index_) + "/_doc/" + percent_encoded(document_id(name)) +
                           "?if_seq_no=" + std::to_string(version.number) +
                           "&if_primary_term=" + std::to_string(version.term);
  const HttpResponse response =
      client_.send("removing the lock " + name.text(), "DELETE", path, {}, {kNotFound, kConflict});
  return response.status != kConflict;
}

}  // namespace lockstep
