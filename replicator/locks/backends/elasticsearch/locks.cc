#include "replicator/locks/backends/elasticsearch/locks.h"

#include <utility>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/locks/backends/elasticsearch/journal.h"
#include "replicator/locks/backends/elasticsearch/lock_documents.h"
#include "replicator/locks/backends/elasticsearch/lock_index.h"
#include "replicator/locks/backends/elasticsearch/lock_scripts.h"

namespace lockstep {
namespace {

using nlohmann::json;

// A busy cluster needs a while to create an index.
constexpr std::chrono::seconds kPrepare{60};

/// If an index is deleted while it is used, the next write makes it again: by this template, so that it
/// works, and a former holder of a lock learns that it is gone.
json template_body(const LockIndices& indices) {
  constexpr int kAboveOthers = 1'000'000;
  return {{"index_patterns", {indices.locks, indices.journal}},
          {"priority", kAboveOthers},
          {"template", lock_index_body()},
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
  restore();
  use(painless == Painless::kHere ? scripted_lock_documents(client_, indices_.locks)
                                  : plain_lock_documents(client_, indices_.locks),
      std::make_unique<ElasticsearchJournal>(client_, indices_.journal, painless, lease()));
  client_.set_timeout(request_timeout_);
}

bool ElasticsearchLocks::attach() {
  const LockIndex locks = look_at_lock_index(client_, indices_.locks);
  const LockIndex journal = look_at_lock_index(client_, indices_.journal);
  if (locks == LockIndex::kMissing && journal == LockIndex::kMissing) return false;
  for (const auto& [state, index] :
       {std::pair(locks, indices_.locks), std::pair(journal, indices_.journal)}) {
    if (state == LockIndex::kOurs) continue;
    throw Error(
        {"looking at locks",
         "the index " + index + " was deleted" +
             (state == LockIndex::kUnmapped ? ", and a write has made it again without its mapping" : ""),
         "`lockstep locks prepare` makes it again, as the next command that takes a lock does"});
  }
  // Reading needs no script.
  use(plain_lock_documents(client_, indices_.locks),
      std::make_unique<ElasticsearchJournal>(client_, indices_.journal, Painless::kMissing, lease()));
  return true;
}

void ElasticsearchLocks::restore() {
  require_template();
  require_lock_index(client_, indices_.locks, lease());
  require_lock_index(client_, indices_.journal, lease());
}

std::optional<std::string> ElasticsearchLocks::vanished(Place place) {
  const std::string& index = place == Place::kJournal ? indices_.journal : indices_.locks;
  if (has_lock_mapping(client_, index)) return std::nullopt;
  return "the index " + index + " is gone, or has lost its mapping: it was deleted";
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

}  // namespace lockstep
