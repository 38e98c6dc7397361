#include "replicator/elasticsearch/admin/generations.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "replicator/elasticsearch/admin/cluster_change.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr const char* kRefresh = "index.refresh_interval";
constexpr const char* kReplicas = "index.number_of_replicas";
constexpr const char* kHiddenSetting = "index.hidden";

std::optional<std::int64_t> reindex_of(const IndexState& index) {
  return integer_at(object_at(object_at(index.mappings, "_meta"), "lockstep"), "reindex");
}

bool is_ours(const IndexState& index, const std::string& identity) {
  const std::optional<IndexMark> mark = read_mark(index);
  return mark && mark->identity == identity;
}

bool has_alias(const IndexState& index, const std::string& alias) {
  return std::find(index.aliases.begin(), index.aliases.end(), alias) != index.aliases.end();
}

bool is_writing_alias(const std::string& alias, const std::string& index) {
  const std::string begin = writing_alias(index);
  return alias.starts_with(begin) && alias.find_first_not_of("0123456789", begin.size()) == alias.npos;
}

std::vector<std::string> writing_aliases_of(const IndexState& index) {
  std::vector<std::string> own;
  std::ranges::copy_if(index.aliases, std::back_inserter(own),
                       [&](const std::string& alias) { return is_writing_alias(alias, index.name); });
  return own;
}

std::vector<std::string> names_of(const std::vector<IndexState>& indices) {
  std::vector<std::string> names;
  for (const IndexState& index : indices) names.push_back(index.name);
  return names;
}

/// The alias of another index, with its options.
json added_to(const std::string& index, const std::string& alias, json options) {
  options["index"] = index;
  options["alias"] = alias;
  return {{"add", std::move(options)}};
}

/// The searchers' alias on another index. Two indices of an alias cannot both be the one for writing. So of
/// two that move it at once only one succeeds. If writes by the alias are blocked, they are noticed
/// afterwards.
json moved_to(const std::string& index, const std::string& alias, const std::vector<IndexState>& from) {
  json options = json::object();
  for (const IndexState& each : from) options.update(object_at(each.alias_options, alias));
  if (!options.contains("is_write_index")) options["is_write_index"] = true;
  return added_to(index, alias, std::move(options));
}

json removed_from(const std::string& index, const std::string& alias) {
  return {{"remove", {{"index", index}, {"alias", alias}}}};
}

std::string in_words(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nothing" : text;
}

void change_aliases(ElasticsearchClient& client, const std::string& doing, const json& actions) {
  change_cluster(client, doing, "POST", "/_aliases", json{{"actions", actions}}.dump());
}

json hidden_alias() {
  return {{"is_hidden", true}};
}

// An index template of the user's may name the alias: then searchers would see an index that is being filled.
// Returns the alias for writing.
std::string require_alone(ElasticsearchClient& client, const std::string& index) {
  for (const IndexState& found : client.indices_of(index)) {
    if (found.aliases.size() == 1 && writing_aliases_of(found) == found.aliases) return found.aliases.front();
    client.delete_index(index);
    throw Error(
        {"creating index " + index,
         "an index template of Elasticsearch puts it under an alias at once: " + in_words(found.aliases),
         "take the aliases out of that template"});
  }
  throw Error({"creating index " + index, "it is gone again", "looking again", Retry::kLater,
               Server::kElasticsearch});
}

bool is_of_a_reindex(const IndexState& index) {
  return reindex_of(index) || !writing_aliases_of(index).empty();
}

void drop_lost(ElasticsearchClient& client, const std::string& index) {
  spdlog::warn("index {} is of a reindex that the source has lost by going back; it is deleted", index);
  client.delete_index(index);
}

// An index that the source still has to make is empty: one with documents was filled before the source went
// back to an older state, and has documents of commits that are lost. The reindex gets a new one.
bool is_of_lost_commits(ElasticsearchClient& client, const IndexState& index, Epoch epoch) {
  if (read_mark(index)->epoch > epoch) {
    throw Error({"creating an index alongside another", "a later leader fills " + index.name, "looking again",
                 Retry::kLater, Server::kElasticsearch});
  }
  client.refresh(index.name);
  return client.count(index.name) > 0;
}

std::string create_next(ElasticsearchClient& client, const DesiredIndex& desired, Epoch epoch,
                        std::int64_t reindex, const std::vector<IndexState>& existing) {
  const std::int64_t last = existing.empty() ? 0 : generation_number(desired.alias, existing.back().name);
  const std::string name = generation_name(desired.alias, last + 1);
  json body = new_index_body(desired, epoch);
  body["mappings"]["_meta"]["lockstep"]["reindex"] = reindex;
  body["aliases"] = {{writing_alias(name, reindex), hidden_alias()}};
  // If no node has room for its shards it is red, which a writer learns sooner than a wait here.
  change_cluster(client, "creating index " + name, "PUT",
                 "/" + percent_encoded(name) + "?wait_for_active_shards=0", body.dump());
  return name;
}

int health_of(ElasticsearchClient& client, const std::string& index, std::string& word) {
  const std::string doing = "asking for the health of index " + index;
  word = text_at(client.send_json(doing, "GET", "/_cluster/health/" + percent_encoded(index)), "status");
  const std::vector<std::string> words = {"red", "yellow", "green"};
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) throw Error({doing, "it is \"" + word + "\", which this lockstep does not know"});
  return static_cast<int>(found - words.begin());
}

void require_not_needed(ElasticsearchClient& client, const DroppedGeneration& dropped,
                        const IndexState& index) {
  const std::string doing = "deleting index " + index.name;
  const bool has_live = dropped.live.empty() || !client.indices_of(dropped.live).empty();
  if (has_alias(index, dropped.alias)) {
    throw Error({doing,
                 "the alias " + dropped.alias + " points to it, and no change is written into it any more",
                 has_live && !dropped.live.empty()
                     ? "move the alias back to " + dropped.live
                     : "take the alias from it and run `lockstep apply`, which makes a new index"});
  }
  if (!has_live && client.indices_of(dropped.alias).empty()) {
    throw Error(
        {doing, dropped.live + " is gone, and the alias " + dropped.alias + " points to nothing",
         "run `lockstep apply`, which makes a new index; until then it is the only one that is left"});
  }
}

}  // namespace

std::string writing_alias(const std::string& index, std::int64_t reindex) {
  return index + "-w" + (reindex == 0 ? "" : std::to_string(reindex));
}

std::string index_written_by(const std::string& writing_alias) {
  return writing_alias.substr(0, writing_alias.rfind("-w"));
}

std::vector<std::string> other_aliases(const IndexState& index, const std::string& alias) {
  std::vector<std::string> others;
  for (const std::string& each : index.aliases) {
    if (each != alias && !is_writing_alias(each, index.name)) others.push_back(each);
  }
  return others;
}

TwoGenerations create_beside(ElasticsearchClient& client, const DesiredIndex& desired, Epoch epoch,
                             std::int64_t reindex) {
  const std::vector<IndexState> found = client.indices_of(desired.alias);
  const MarkedIndex live = marked_index_of(desired.alias, found);
  TwoGenerations names{found.front().name, {}, {}, 0};
  if (live.mark.identity != desired.identity) {
    throw Error({"creating an index alongside " + names.live, "it belongs to another pipeline",
                 "see `lockstep plan`"});
  }
  const std::vector<IndexState> existing = client.generations(desired.alias);
  for (const IndexState& index : existing) {
    if (index.name == names.live || !is_ours(index, desired.identity) || !is_of_a_reindex(index)) continue;
    const bool is_of_this_one = reindex_of(index) == reindex;
    if (!is_of_this_one && read_mark(index)->epoch > epoch) continue;
    if (!is_of_this_one || is_of_lost_commits(client, index, epoch))
      drop_lost(client, index.name);
    else
      names.beside = index.name;
  }
  if (names.beside.empty()) names.beside = create_next(client, desired, epoch, reindex, existing);
  names.beside_alias = require_alone(client, names.beside);
  require_fit_index(client, names.beside);
  client.put_settings(names.beside, {{kRefresh, "-1"}, {kReplicas, "0"}, {kHiddenSetting, "true"}});
  json own = hidden_alias();
  own["index"] = names.live;
  own["alias"] = writing_alias(names.live);
  change_aliases(client, "giving index " + names.live + " an alias for writing",
                 json::array({{{"add", own}}}));
  names.documents = client.count(names.live);
  return names;
}

void finish_filling(ElasticsearchClient& client, const std::string& index, const IndexMapping& mapping) {
  const json wanted = flat_settings(mapping.settings);
  json settings;
  for (const char* const name : {kRefresh, kReplicas}) settings[name] = wanted.value(name, json());
  client.put_settings(index, settings);
  client.refresh(index);
}

AliasState state_of_alias(ElasticsearchClient& client, const std::string& alias, const std::string& live,
                          const std::string& beside) {
  return {names_of(client.indices_of(alias)), !client.indices_of(live).empty(),
          !client.indices_of(beside).empty()};
}

std::string why_unseen(const AliasState& standing, const std::string& alias, const std::string& live) {
  if (standing.at == std::vector{live}) return "";
  std::string why = "the alias " + alias + " points to " + in_words(standing.at) + ", not to " + live;
  if (!standing.has_live) why += ", which was deleted";
  return why;
}

void require_as_healthy(ElasticsearchClient& client, const std::string& index, const std::string& than) {
  std::string is;
  std::string wanted;
  if (health_of(client, index, is) >= health_of(client, than, wanted)) return;
  throw Error({"moving to index " + index, "it is " + is + ", and " + than + " is " + wanted,
               "waiting until its shards are as safe", Retry::kLater, Server::kElasticsearch});
}

void require_movable(const AliasState& standing, const std::string& alias, const std::string& from,
                     const std::string& to) {
  const bool is_free = standing.at.empty() && !standing.has_live;
  if (is_free || standing.at == std::vector{from} || standing.at == std::vector{to}) return;
  throw Error({"looking at the alias " + alias, why_unseen(standing, alias, from),
               "find out why it was moved and move it back, or take it with `lockstep reindex --force`"});
}

void move_alias(ElasticsearchClient& client, const std::string& alias, const std::string& from,
                const std::string& to, TakeFrom take_from) {
  const std::vector<IndexState> found = client.indices_of(alias);
  std::vector<std::string> at = names_of(found);
  if (at != std::vector{to}) {
    if (take_from == TakeFrom::kExpected)
      require_movable(state_of_alias(client, alias, from, to), alias, from, to);
    client.refresh(to);
    json actions = json::array();
    for (const std::string& index : at) {
      if (index != to) actions.push_back(removed_from(index, alias));
    }
    actions.push_back(moved_to(to, alias, found));
    for (const IndexState& old : client.indices_of(from)) {
      for (const std::string& other : other_aliases(old, alias)) {
        actions.push_back(removed_from(from, other));
        actions.push_back(added_to(to, other, old.alias_options.at(other)));
      }
    }
    change_aliases(client, "moving alias " + alias + " from " + from + " to " + to, actions);
    at = names_of(client.indices_of(alias));
    if (at != std::vector{to}) {
      throw Error({"moving alias " + alias + " to " + to,
                   "another command moves it at the same time: it points to " + in_words(at), "looking again",
                   Retry::kLater, Server::kElasticsearch});
    }
  }
  client.put_settings(to, {{kHiddenSetting, nullptr}});
  if (!client.indices_of(from).empty()) client.put_settings(from, {{kHiddenSetting, "true"}});
}

std::vector<IndexState> generations_of(ElasticsearchClient& client, const std::string& alias,
                                       const std::string& named) {
  std::vector<IndexState> all = client.generations(alias);
  for (const std::string& name : {alias, named}) {
    if (name.empty()) continue;
    for (IndexState& index : client.indices_of(name)) {
      const bool is_known = std::any_of(all.begin(), all.end(),
                                        [&](const IndexState& known) { return known.name == index.name; });
      if (!is_known) all.push_back(std::move(index));
    }
  }
  return all;
}

void drop_forgotten(ElasticsearchClient& client, const std::string& alias, const std::string& identity) {
  for (const IndexState& index : client.generations(alias)) {
    if (is_ours(index, identity) && is_of_a_reindex(index) && !has_alias(index, alias))
      drop_lost(client, index.name);
  }
}

void drop_generation(ElasticsearchClient& client, const DroppedGeneration& dropped) {
  for (const IndexState& index : generations_of(client, dropped.alias, dropped.index)) {
    if (!is_ours(index, dropped.identity)) continue;
    const bool goes =
        dropped.index.empty() ? reindex_of(index) == dropped.reindex : index.name == dropped.index;
    if (goes) require_not_needed(client, dropped, index);
    if (goes) {
      client.delete_index(index.name);
    } else if (const std::vector<std::string> own = writing_aliases_of(index); !own.empty()) {
      json actions = json::array();
      for (const std::string& alias : own) actions.push_back(removed_from(index.name, alias));
      change_aliases(client, "taking its alias for writing from index " + index.name, actions);
    }
  }
}

}  // namespace lockstep
