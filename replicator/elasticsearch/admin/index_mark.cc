#include "replicator/elasticsearch/admin/index_mark.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/stored_object.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

// No leader gets so far. To rise above a greater one would use up the epochs that there are.
constexpr std::int64_t kMaxBelievedEpoch = DocumentVersion::kMaxEpoch / 4 * 3;

constexpr int kKeepingTries = 5;

// Not every user may ask that; then it only takes a moment less. 408: it is still busy after that time.
void await_changes_in_hand(ElasticsearchClient& client, const std::string& doing) {
  client.send(doing, "GET", "/_cluster/health?wait_for_events=languid&timeout=10s", {}, {401, 403, 408});
}

bool has_keys(const nlohmann::json& mark, const nlohmann::json& keys) {
  return std::all_of(keys.items().begin(), keys.items().end(), [&](const auto& key) {
    const auto found = mark.find(key.key());
    return found == mark.end() ? key.value().is_null() : *found == key.value();
  });
}

}  // namespace

using nlohmann::json;

std::optional<IndexMark> read_mark(const IndexState& index) {
  const json meta = meta_of(index);
  const auto found = meta.is_object() ? meta.find("lockstep") : meta.end();
  if (found == meta.end() || !found->is_object()) return std::nullopt;
  const StoredObject stored("the mark of the index " + index.name, *found);
  const std::optional<std::int64_t> epoch = stored.integer_if_any("epoch");
  if (!epoch) return std::nullopt;
  if (*epoch < 0 || *epoch > kMaxBelievedEpoch) {
    throw unfit_value(stored.where(), "epoch", std::to_string(*epoch),
                      "one from 0 to " + std::to_string(kMaxBelievedEpoch));
  }
  IndexMark mark;
  mark.epoch = Epoch{*epoch};
  mark.pipeline = stored.text("pipeline");
  mark.identity = stored.text("identity");
  mark.alias = stored.text_if_any("alias").value_or("");
  mark.view = stored.text_if_any("view").value_or("");
  mark.mapping_checksum = stored.text_if_any("mapping_checksum").value_or("");
  mark.unwritten = stored.text_if_any("unwritten").value_or("");
  mark.uncompared = stored.text_if_any("uncompared").value_or("");
  mark.doubt = stored.text_if_any("doubt").value_or("");
  if (const auto source = stored.object_if_any("source")) {
    mark.source = {source->text("place"), source->text("timeline"), source->integer("progress"),
                   source->text_if_any("tables").value_or(""), source->text_if_any("mark").value_or("")};
  }
  return mark;
}

std::optional<IndexMark> readable_mark(const IndexState& index) {
  try {
    return read_mark(index);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::string> other_owner(const IndexState& index, const std::string& pipeline,
                                       const std::string& identity) {
  const json mark = object_at(meta_of(index), "lockstep");
  const std::string named = text_at(mark, "pipeline");
  const std::string its = text_at(mark, "identity");
  const bool is_other = (!named.empty() && named != pipeline) || (!its.empty() && its != identity);
  if (!is_other) return std::nullopt;
  return named.empty() ? "of the identity " + its : "\"" + named + "\"";
}

json meta_of(const IndexState& index) {
  return object_at(index.mappings, "_meta");
}

void keep_in_mark(ElasticsearchClient& client, const std::string& index, const json& keys) {
  const std::string doing = "marking index " + index;
  for (int tries = 0; tries < kKeepingTries; ++tries) {
    await_changes_in_hand(client, doing);
    const std::vector<IndexState> found = client.indices_of(index);
    if (found.size() != 1 || !readable_mark(found.front()))
      throw Error({doing, "it is no longer as it was a moment ago", "run `lockstep plan` again"});
    json meta = meta_of(found.front());
    json& mark = meta["lockstep"];
    if (has_keys(mark, keys)) return;
    mark.merge_patch(keys);
    client.put_mapping(index, {{"_meta", std::move(meta)}});
  }
  throw Error({doing, "other processes write its mark again and again at the same time", "try again",
               Retry::kLater, Server::kElasticsearch});
}

json source_json(const SourceMark& source) {
  return {{"place", source.place},
          {"timeline", source.timeline},
          {"progress", source.progress},
          {"tables", source.tables},
          {"mark", source.mark}};
}

json mark_json(const IndexMark& mark) {
  json written = {{"pipeline", mark.pipeline},
                  {"identity", mark.identity},
                  {"alias", mark.alias},
                  {"view", mark.view},
                  {"mapping_checksum", mark.mapping_checksum},
                  {"epoch", mark.epoch.value},
                  {"source", source_json(mark.source)}};
  if (!mark.unwritten.empty()) written["unwritten"] = mark.unwritten;
  if (!mark.uncompared.empty()) written["uncompared"] = mark.uncompared;
  if (!mark.doubt.empty()) written["doubt"] = mark.doubt;
  return written;
}

}  // namespace lockstep
