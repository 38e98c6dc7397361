#include "replicator/locks/backends/elasticsearch/locks.h"

#include <set>
#include <utility>

#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/locks/backends/elasticsearch/journal.h"
#include "replicator/locks/backends/elasticsearch/lock_documents.h"
#include "replicator/locks/backends/elasticsearch/lock_scripts.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr int kBadRequest = 400;
// A busy cluster needs a while to create an index.
constexpr std::chrono::seconds kPrepare{60};

/// Both indices have the same fields, so that one template serves them.
json index_body() {
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

bool is_ours(const json& mappings) {
  return object_at(object_at(mappings, "_meta"), "lockstep").contains("locks");
}

/// Whether a write of ours has made the index, after somebody had deleted it together with its template: then
/// its mapping is empty, or what Elasticsearch makes of our documents.
bool made_by_a_write(const json& mappings) {
  if (mappings.empty()) return true;
  static const std::set<std::string> kFields = {
      "lock_type", "lock_count", "process_id", "holders", "queue",       "want",  "name",   // of locks
      "kind",      "from",       "to",         "target",  "state",       "owner", "epoch",  // of the journal
      "token",     "commit",     "task",       "reason",  "lease_until", "locks", "progress",
      "last"};  // of the tokens
  const json fields = object_at(mappings, "properties");
  for (const auto& field : fields.items()) {
    if (!kFields.contains(field.key())) return false;
  }
  return mappings.size() == 1 &&
         (fields.contains("holders") || fields.contains("lease_until") || fields.contains("last"));
}

/// What such a mapping lacks. The fields that it has stay as they are: nothing is searched by them but times
/// and states.
json missing_mapping(const json& mappings) {
  json missing = index_body().at("mappings");
  const json fields = object_at(mappings, "properties");
  for (const auto& field : fields.items()) missing.at("properties").erase(field.key());
  return missing;
}

/// When somebody deletes an index that is used, the next write makes it again: by this template, so that it
/// works, and whoever held a lock learns that it is gone.
json template_body(const LockIndices& indices) {
  constexpr int kAboveOthers = 1'000'000;
  return {{"index_patterns", {indices.locks, indices.journal}},
          {"priority", kAboveOthers},
          {"template", index_body()},
          {"_meta", {{"lockstep", {{"locks", 1}}}}}};
}

}  // namespace

LockIndices lock_indices(const std::string& index) {
  constexpr std::string_view kEnd = "-locks";
  const bool ends = index.size() > kEnd.size() && index.ends_with(kEnd);
  return {index, (ends ? index.substr(0, index.size() - kEnd.size()) : index) + "-journal"};
}

ElasticsearchLocks::ElasticsearchLocks(std::unique_ptr<HttpTransport> transport, LockIndices indices,
                                       std::chrono::milliseconds lease,
                                       std::chrono::milliseconds request_timeout)
    : StoredLocks(lease),
      client_(std::move(transport)),
      indices_(std::move(indices)),
      request_timeout_(request_timeout) {}

void ElasticsearchLocks::prepare() {
  client_.set_timeout(kPrepare);
  const Painless painless = install_lock_scripts(client_);
  require_template();
  require_index(indices_.locks);
  require_index(indices_.journal);
  use(painless == Painless::kHere ? scripted_lock_documents(client_, indices_.locks)
                                  : plain_lock_documents(client_, indices_.locks),
      std::make_unique<ElasticsearchJournal>(client_, indices_.journal, painless, lease()));
  client_.set_timeout(request_timeout_);
}

bool ElasticsearchLocks::attach() {
  const bool locks = !client_.indices_of(indices_.locks).empty();
  const bool journal = !client_.indices_of(indices_.journal).empty();
  if (!locks && !journal) return false;
  if (!locks || !journal) {
    throw Error({"looking at locks",
                 "somebody has deleted the index " + (locks ? indices_.journal : indices_.locks),
                 "the next command that takes a lock makes it again"});
  }
  // Reading needs no script.
  use(plain_lock_documents(client_, indices_.locks),
      std::make_unique<ElasticsearchJournal>(client_, indices_.journal, Painless::kMissing, lease()));
  return true;
}

void ElasticsearchLocks::require_template() {
  const json reply = client_.send_json(
      "reading the index templates", "GET",
      "/_cluster/state/metadata?filter_path=metadata.index_template.index_template.*._meta.lockstep.locks");
  const json templates =
      object_at(object_at(object_at(reply, "metadata"), "index_template"), "index_template");
  if (templates.contains(indices_.locks)) return;
  client_.send("storing the template of the indices of locks", "PUT",
               "/_index_template/" + percent_encoded(indices_.locks), template_body(indices_).dump());
}

void ElasticsearchLocks::require_index(const std::string& index) {
  std::vector<IndexState> found = client_.indices_of(index);
  if (found.empty()) {
    const std::string doing = "creating index " + index;
    const HttpResponse response =
        client_.send(doing, "PUT", "/" + percent_encoded(index), index_body().dump(), {kBadRequest});
    // Somebody else may have created it meanwhile.
    if (response.status == kBadRequest &&
        read_error_reply(response.body).type != "resource_already_exists_exception") {
      throw reply_error(doing, response);
    }
    found = client_.indices_of(index);
  }
  const std::string doing = "using index " + index + " for locks";
  if (found.size() == 1 && !is_ours(found[0].mappings) && made_by_a_write(found[0].mappings)) {
    client_.put_mapping(index, missing_mapping(found[0].mappings));
    found = client_.indices_of(index);
  }
  if (found.size() != 1 || !is_ours(found[0].mappings))
    throw Error({doing, "lockstep has not made it", "choose another name for [locks] index"});
  if (text_at(found[0].settings, "index.number_of_shards") != "1") {
    throw Error({doing, "it has more than one shard, so that its sequence numbers do not order operations",
                 "delete it while nobody holds a lock"});
  }
}

}  // namespace lockstep
