#include "replicator/locks/backends/elasticsearch/lock_index.h"

#include <algorithm>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "replicator/clock.h"
#include "replicator/elasticsearch/admin/index_blocks.h"
#include "replicator/elasticsearch/read/document_scan.h"
#include "replicator/elasticsearch/read/id_search.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/locks/backends/elasticsearch/journal.h"
#include "replicator/locks/backends/elasticsearch/lock_documents.h"
#include "replicator/locks/backends/elasticsearch/lock_json.h"
#include "replicator/pause.h"

namespace lockstep {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

/// A holder whose lease has just been renewed lives for that long and a step of the server's clock.
constexpr milliseconds kAfterALease{1'000};
constexpr milliseconds kPause{200};

std::string doing_with(const std::string& index) {
  return "using index " + index + " for locks";
}

Error foreign(const std::string& index, const std::string& because) {
  return Error({doing_with(index), "lockstep has not made it: " + because,
                "delete the index if it is not needed, or write another name into [locks] index for all that "
                "share these locks"});
}

bool is_marked(const IndexState& state) {
  return object_at(object_at(state.mappings, "_meta"), "lockstep").contains("locks");
}

/// Until when a holder works under what a document records; none: there is none. Throws Error if Lockstep has
/// not written it.
std::optional<ServerTime> life_in(const std::string& id, const json& source) {
  if (id == kTokenId && source.contains("last")) return std::nullopt;
  if (source.contains("state")) {
    const Operation operation = read_operation(id, source, {});
    return operation.resolved() ? std::nullopt : std::optional(operation.lease_until);
  }
  std::optional<ServerTime> until;
  const std::optional<LockState> lock = read_lock(id, source);
  if (!lock) return until;
  const auto named = static_cast<std::int64_t>(lock->holders.size());
  const bool leased = std::all_of(lock->holders.begin(), lock->holders.end(),
                                  [](const LockHolder& holder) { return holder.until.has_value(); });
  if (!leased || lock->count != named) throw Error({"reading the lock " + id, "it is held without a lease"});
  for (const LockHolder& holder : lock->holders) until = std::max(until, holder.until);
  return until;
}

/// Of all documents in an index that is not marked. Throws Error if Lockstep has not written all of them.
std::optional<ServerTime> life_in(ElasticsearchClient& client, const std::string& index) {
  std::optional<ServerTime> until;
  client.refresh(index);
  NeighbourReader reader(client, index);
  const auto judge = [&](std::size_t, const std::optional<StoredDocument>& document) {
    if (!document) return;  // deleted since
    try {
      until = std::max(until, life_in(std::string(document->id), json::parse(document->source)));
    } catch (const Error& error) {
      throw foreign(index, error.what());
    }
  };
  scan_documents(client, index, {}, [&](std::span<const StoredDocument> page) {
    std::vector<DocumentLocation> locations;
    for (const StoredDocument& document : page) locations.push_back({document.id, document.routing});
    reader.fetch(locations, judge);
  });
  return until;
}

/// Throws Error unless the names in the mapping are those of fields that Lockstep writes.
void require_our_fields(const std::string& index, const IndexState& state) {
  static const std::set<std::string> ours = {
      "commit", "epoch",     "from", "holders", "kind",       "last",     "lease_until", "lock_count",
      "locks",  "lock_type", "name", "owner",   "process_id", "progress", "queue",       "reason",
      "state",  "target",    "task", "to",      "token",      "want"};
  const json properties = object_at(state.mappings, "properties");
  for (const auto& field : properties.items()) {
    if (!ours.contains(field.key()))
      throw foreign(index, "its mapping has the field \"" + field.key() + "\"");
  }
}

LockIndex judge(const std::string& index, const std::vector<IndexState>& found) {
  if (found.empty()) return LockIndex::kMissing;
  if (found.size() > 1 || found[0].name != index) {
    if (found.size() == 1 && is_marked(found[0])) return LockIndex::kOurs;
    throw foreign(index, "it is an alias");
  }
  if (is_marked(found[0])) return LockIndex::kOurs;
  require_our_fields(index, found[0]);
  return LockIndex::kUnmapped;
}

void remove_unmapped(ElasticsearchClient& client, const std::string& index, milliseconds lease) {
  const SystemClock clock;
  const SteadyTime end = clock.now() + lease + kAfterALease;
  while (true) {
    // Another process may have made it again meanwhile.
    if (has_lock_mapping(client, index)) return;
    const std::optional<ServerTime> until = life_in(client, index);
    if (!until || *until < read_server_time(client)) break;
    if (clock.now() >= end) {
      throw Error({doing_with(index),
                   "it has lost its mapping, and a lock in it is held until " + text_of(*until),
                   "end the process that holds the lock, then run `lockstep locks prepare`", Retry::kLater,
                   Server::kElasticsearch});
    }
    pause(kPause, std::stop_token());
  }
  client.send("deleting index " + index + ", which has lost its mapping", "DELETE",
              "/" + percent_encoded(index), {}, {kNotFound});
}

}  // namespace

json lock_index_body() {
  return {{"settings",
           {{"number_of_shards", 1},
            {"auto_expand_replicas", "0-2"},
            {"refresh_interval", "-1"},
            {"translog.durability", "request"}}},
          {"mappings",
           {{"_meta", {{"lockstep", {{"locks", 1}}}}},
            {"dynamic", false},
            {"properties",
             {{"lock_type", {{"type", "keyword"}}},
              {"lock_count", {{"type", "integer"}}},
              {"process_id", {{"type", "keyword"}}},
              {"holders", {{"type", "object"}, {"enabled", false}}},
              {"want", {{"type", "object"}, {"enabled", false}}},
              {"kind", {{"type", "keyword"}}},
              {"state", {{"type", "keyword"}}},
              {"owner", {{"type", "keyword"}}},
              {"lease_until", {{"type", "long"}}},
              {"locks", {{"type", "object"}, {"enabled", false}}}}}}}};
}

LockIndex look_at_lock_index(ElasticsearchClient& client, const std::string& index) {
  const LockIndex judged = judge(index, client.indices_of(index));
  if (judged == LockIndex::kUnmapped) (void)life_in(client, index);
  return judged;
}

bool has_lock_mapping(ElasticsearchClient& client, const std::string& index) {
  const std::vector<IndexState> found = client.indices_of(index);
  return found.size() == 1 && is_marked(found[0]);
}

void require_lock_index(ElasticsearchClient& client, const std::string& index, milliseconds lease) {
  std::vector<IndexState> found = client.indices_of(index);
  const LockIndex judged = judge(index, found);
  if (judged == LockIndex::kUnmapped) remove_unmapped(client, index, lease);
  if (judged != LockIndex::kOurs) {
    make_unless_there(client, "creating index " + index, "PUT", "/" + percent_encoded(index),
                      lock_index_body());
    found = client.indices_of(index);
    if (judge(index, found) != LockIndex::kOurs) {
      throw Error({doing_with(index), "it was deleted while it was made", "try again", Retry::kLater,
                   Server::kElasticsearch});
    }
  }
  if (text_at(found[0].settings, "index.number_of_shards") != "1") {
    throw Error({doing_with(index),
                 "it has more than one shard, so that its sequence numbers do not order operations",
                 "delete it while no lock is held"});
  }
  require_writable(doing_with(index), found[0], Retry::kLater);
}

}  // namespace lockstep
