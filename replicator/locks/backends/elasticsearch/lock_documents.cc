#include "replicator/locks/backends/elasticsearch/lock_documents.h"

#include <algorithm>

#include "replicator/elasticsearch/read/document_scan.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/stored_object.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/locks/backends/elasticsearch/lock_json.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr int kTries = 10;

StoredLock stored_lock(const std::string& id, const json& reply) {
  StoredLock lock;
  lock.source = stored_source("the lock " + id, reply);
  lock.state = read_lock(id, lock.source);
  lock.version = version_of(reply);
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

LockDocuments::LockDocuments(ElasticsearchClient& client, std::string index)
    : client_(client), index_(std::move(index)) {}

ServerTime LockDocuments::now() {
  return read_server_time(client_);
}

std::optional<Refusal> LockDocuments::acquire_all(const LockSet& locks, const Grant& grant) {
  std::optional<Refusal> refusal = acquire(locks, grant);
  if (refusal && locks.size() > 1) give_back(locks, refusal->lock.name, grant);
  return refusal;
}

std::optional<Refusal> LockDocuments::acquire_again(const LockSet& locks, const LockName& at,
                                                    const Grant& grant) {
  const auto request =
      std::find_if(locks.begin(), locks.end(), [&](const LockRequest& each) { return each.name == at; });
  if (locks.size() > 1 && request != locks.end()) {
    if (std::optional<Refusal> refusal = acquire({*request}, grant)) return refusal;
  }
  return acquire_all(locks, grant);  // which gives it back with the others if one of those is refused
}

std::optional<Refusal> LockDocuments::acquire_one(const LockRequest& request, const Grant& grant) {
  return acquire({request}, grant);
}

std::optional<LockState> LockDocuments::find(const LockName& name) {
  const std::optional<StoredLock> stored = read(name);
  return stored ? stored->state : std::nullopt;
}

std::optional<StoredLock> LockDocuments::read(const LockName& name) {
  return read_all({document_id(name)}).at(0);
}

std::vector<std::optional<StoredLock>> LockDocuments::read_all(const std::vector<std::string>& ids,
                                                               const Unreadable& unreadable) {
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
    locks.emplace_back();
    if (!document.value("found", false)) continue;
    try {
      locks.back() = stored_lock(ids[i], document);
    } catch (const Error& error) {
      unreadable(error);
    }
  }
  return locks;
}

std::vector<LockState> LockDocuments::all(const Unreadable& unreadable) {
  client_.refresh(index_);
  std::vector<LockState> locks;
  scan_documents(client_, index_, {}, [&](std::span<const StoredDocument> page) {
    std::vector<std::string> ids;
    ids.reserve(page.size());
    for (const StoredDocument& document : page) ids.emplace_back(document.id);
    for (const std::optional<StoredLock>& lock : read_all(ids, unreadable)) {
      if (lock && lock->state) locks.push_back(*lock->state);
    }
  });
  std::sort(locks.begin(), locks.end(),
            [](const LockState& a, const LockState& b) { return a.name < b.name; });
  return locks;
}

void LockDocuments::remove_nameless(const LockName& name) {
  for (int tried = 0; tried < kTries; ++tried) {
    const std::optional<StoredLock> left = read(name);
    if (!left || !left->state) return;
    const auto named = std::count_if(left->state->holders.begin(), left->state->holders.end(),
                                     [](const LockHolder& holder) { return holder.until.has_value(); });
    if (left->state->count == named) return;  // only holders with a name are left
    if (named == 0 && remove(name, left->version)) return;
  }
  throw lock_is_busy(name);
}

bool LockDocuments::remove(const LockName& name, JournalVersion version) {
  const std::string path = "/" + percent_encoded(index_) + "/_doc/" + percent_encoded(document_id(name)) +
                           "?if_seq_no=" + std::to_string(version.number) +
                           "&if_primary_term=" + std::to_string(version.term);
  const HttpResponse response =
      client_.send("removing the lock " + name.text(), "DELETE", path, {}, {kNotFound, kConflict});
  return response.status != kConflict;
}

}  // namespace lockstep
