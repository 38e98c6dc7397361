#include "replicator/elasticsearch/admin/adoption.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "replicator/clock.h"
#include "replicator/elasticsearch/admin/cluster_change.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {
namespace {

using nlohmann::json;

using namespace std::chrono_literals;

constexpr auto kShardPatience = 30s;
constexpr auto kShardPoll = 100ms;
constexpr const char* kWriteBlock = "index.blocks.write";
constexpr const char* kHidden = "index.hidden";

void put_mark(ElasticsearchClient& client, const IndexState& index, const IndexMark& mark) {
  json meta = meta_of(index);
  if (!meta.is_object()) meta = json::object();
  meta["lockstep"] = mark_json(mark);
  client.put_mapping(index.name, {{"_meta", std::move(meta)}});
}

IndexState sole(ElasticsearchClient& client, const std::string& name) {
  std::vector<IndexState> found = client.indices_of(name);
  if (found.size() == 1) return std::move(found.front());
  throw Error({"adopting " + name, "it is no longer as it was planned", "run `lockstep adopt` again"});
}

/// A clone of an earlier try: it has the mark of this pipeline, and no alias points to it yet. Its maker may
/// be at work still.
bool is_left_over(const IndexState& index, const IndexMark& mark) {
  const std::optional<IndexMark> its = read_mark(index);
  return its && its->identity == mark.identity && !its->uncompared.empty() && index.aliases.empty();
}

void clone(ElasticsearchClient& client, const IndexState& index, const std::string& name) {
  const std::string doing = "cloning index " + index.name + " as " + name;
  json settings = {{kWriteBlock, false}, {kHidden, true}};
  // Elasticsearch gives a clone one replica, regardless of the other index's number.
  for (const char* const setting : {"index.number_of_replicas", "index.auto_expand_replicas"}) {
    if (index.settings.contains(setting)) settings[setting] = index.settings.at(setting);
  }
  make_unless_there(client, doing, "POST",
                    "/" + percent_encoded(index.name) + "/_clone/" + percent_encoded(name),
                    {{"settings", settings}});
}

// An index whose primaries have not begun yet is called yellow, and a clone reads its documents from the old
// index: gone too early, that takes them along.
void await_primaries(ElasticsearchClient& client, const std::string& name, const std::string& shards) {
  const std::string doing = "waiting for the shards of index " + name;
  const SteadyTime end = steady_now() + kShardPatience;
  while (true) {
    // 408: not within that second.
    const HttpResponse reply =
        client.send(doing, "GET",
                    "/_cluster/health/" + percent_encoded(name) +
                        "?timeout=1s&wait_for_active_shards=" + percent_encoded(shards),
                    {}, {408});
    const std::optional<std::int64_t> active = integer_at(parse_reply(doing, reply), "active_primary_shards");
    if (active && std::to_string(*active) == shards) return;
    if (steady_now() > end) {
      throw Error({doing, "not all of its primary shards are there",
                   "see why with GET _cluster/allocation/explain, and run `lockstep adopt` again",
                   Retry::kLater, Server::kElasticsearch});
    }
    std::this_thread::sleep_for(kShardPoll);
  }
}

[[noreturn]] void fail_beside_another(const std::string& name) {
  throw Error(
      {"adopting " + name, "another command adopts it at the same time", "run `lockstep adopt` again"});
}

// Another process may have pointed the name to the clone meanwhile.
void require_same(ElasticsearchClient& client, const IndexState& index) {
  if (sole(client, index.name).uuid != index.uuid) fail_beside_another(index.name);
}

// By the name that had become an alias meanwhile, the clone itself may have been cloned, unnoticed.
void require_clone_of(ElasticsearchClient& client, const IndexState& index, const std::string& name) {
  for (const IndexState& found : client.indices_of(name)) {
    const std::string of = text_at(found.settings, "index.resize.source.uuid");
    if (of.empty() || of == index.uuid) continue;
    if (found.aliases.empty()) client.delete_index(name);
    fail_beside_another(index.name);
  }
}

/// The clone of an index that takes no writes.
std::string cloned(ElasticsearchClient& client, const IndexState& index, const IndexMark& mark) {
  const std::vector<IndexState> generations = client.generations(index.name);
  std::string name;
  for (const IndexState& generation : generations) {
    if (is_left_over(generation, mark)) name = generation.name;
  }
  if (name.empty()) {
    const std::int64_t last =
        generations.empty() ? 0 : generation_number(index.name, generations.back().name);
    name = generation_name(index.name, last + 1);
    clone(client, index, name);
  }
  require_clone_of(client, index, name);
  await_primaries(client, name, text_at(index.settings, "index.number_of_shards"));
  return name;
}

/// One call: the index goes, and everything that it was called is an alias of its clone.
void exchange(ElasticsearchClient& client, const IndexState& index, const std::string& name) {
  json actions = json::array(
      {{{"remove_index", {{"index", index.name}}}}, {{"add", {{"index", name}, {"alias", index.name}}}}});
  for (const auto& [alias, options] : index.alias_options.items()) {
    json add = options;
    add["index"] = name;
    add["alias"] = alias;
    actions.push_back({{"add", std::move(add)}});
  }
  change_cluster(client, "pointing alias " + index.name + " to index " + name, "POST", "/_aliases",
                 json{{"actions", std::move(actions)}}.dump());
}

void rename_to_generation(ElasticsearchClient& client, const IndexState& index, const IndexMark& mark) {
  try {
    client.put_settings(index.name, {{kWriteBlock, "true"}});
    require_same(client, index);
    const std::string name = cloned(client, index, mark);
    exchange(client, index, name);
    if (sole(client, index.name).name != name)
      throw Error({"adopting " + index.name, "its name points to another index than its clone " + name,
                   "find out what else changes aliases, and run `lockstep adopt` again"});
    const auto hidden = index.settings.find(kHidden);
    client.put_settings(name, {{kHidden, hidden == index.settings.end() ? json() : *hidden}});
  } catch (const Error&) {
    if (text_at(index.settings, kWriteBlock) != "true") let_writes_in(client, index.name);
    require_same(client, index);  // that is the reason then
    throw;
  }
}

}  // namespace

std::optional<UnfitIndex> why_not_adoptable(const IndexState& index) {
  const std::string name = "index " + index.name;
  if (index.name.starts_with(".ds-")) {
    return UnfitIndex{name + " belongs to a data stream, whose documents cannot be written by their _id",
                      "choose another alias, which `lockstep apply` makes an index for"};
  }
  std::optional<UnfitIndex> unfit = why_unfit(index.mappings, index.settings);
  if (unfit) unfit->problem = name + " has " + unfit->problem;
  return unfit;
}

void adopt_index(ElasticsearchClient& client, const std::string& alias, IndexMark mark,
                 const std::string& taken_from) {
  const IndexState index = sole(client, alias);
  const std::optional<IndexMark> its = readable_mark(index);
  const bool is_taken_over =
      its && !taken_from.empty() && its->pipeline == mark.pipeline && its->identity == taken_from;
  const auto other = other_owner(index, mark.pipeline, mark.identity);
  if (other && !is_taken_over) {
    throw Error({"adopting " + index.name, "another pipeline has taken it: " + *other,
                 "find out which of the two is to follow it"});
  }
  if (its) mark.epoch = its->epoch;
  put_mark(client, index, mark);  // the clone has it from its birth on
  if (index.name == alias) return rename_to_generation(client, index, mark);
  const bool is_clone = its && !is_taken_over && generation_number(alias, index.name) > 0;
  // Its maker may not have come to that.
  if (is_clone) client.put_settings(index.name, {{kHidden, nullptr}, {kWriteBlock, nullptr}});
}

// Any index that has the name now: another process may have pointed it to the clone.
std::vector<std::string> let_writes_in(ElasticsearchClient& client, const std::string& alias) {
  std::vector<std::string> let_in;
  for (const IndexState& index : client.indices_of(alias)) {
    if (text_at(index.settings, kWriteBlock) != "true") continue;
    client.put_settings(index.name, {{kWriteBlock, "false"}});
    let_in.push_back(index.name);
  }
  return let_in;
}

}  // namespace lockstep
