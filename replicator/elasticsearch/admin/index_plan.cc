#include "replicator/elasticsearch/admin/index_plan.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <random>
#include <utility>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/stored_object.h"
#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {
namespace {

using nlohmann::json;
using Kind = IndexPlan::Kind;

json meta_of(const IndexState& index) {
  return object_at(index.mappings, "_meta");
}

json source_json(const SourceMark& source) {
  return {{"place", source.place},
          {"timeline", source.timeline},
          {"progress", source.progress},
          {"tables", source.tables},
          {"mark", source.mark}};
}

json mark_json(const IndexMark& mark) {
  return {{"pipeline", mark.pipeline},
          {"identity", mark.identity},
          {"alias", mark.alias},
          {"view", mark.view},
          {"mapping_checksum", mark.mapping_checksum},
          {"epoch", mark.epoch.value},
          {"source", source_json(mark.source)}};
}

/// The wanted mark of an index, with the writer that `written` has.
IndexMark wanted_mark(const DesiredIndex& desired, const IndexMark& written) {
  return {desired.pipeline,          desired.identity, desired.alias, desired.view,
          checksum(desired.mapping), written.epoch,    written.source};
}

/// The wanted mappings with `meta` and the mark.
json marked_mappings(const DesiredIndex& desired, json meta, const IndexMark& written) {
  meta.update(desired.mapping.meta);
  meta["lockstep"] = mark_json(wanted_mark(desired, written));
  json mappings = desired.mapping.mappings;
  mappings["_meta"] = std::move(meta);
  return mappings;
}

std::string remedy_of_new_index(const std::string& alias) {
  return "run `lockstep reindex " + alias + "`: a new index is filled beside it, and takes its place";
}

constexpr const char* kNarrow =
    "the alias has a filter or a routing, so it does not stand for the whole index";
constexpr const char* kWiden = "remove the alias and add it again without";

bool is_narrow(const IndexState& index, const std::string& alias) {
  return std::find(index.narrow_aliases.begin(), index.narrow_aliases.end(), alias) !=
         index.narrow_aliases.end();
}

IndexPlan refused(const DesiredIndex& desired, std::string problem, std::string remedy) {
  return {Kind::kRefuse, desired.alias, {}, {}, std::move(problem), std::move(remedy)};
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

std::int64_t next_number(ElasticsearchClient& client, const std::string& alias) {
  const std::vector<IndexState> existing = client.generations(alias);
  return existing.empty() ? 1 : generation_number(alias, existing.back().name) + 1;
}

std::string random_name(const std::string& prefix) {
  static constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> letter(0, sizeof kLetters - 2);
  std::string name = prefix;
  for (int i = 0; i < 12; ++i) name += kLetters[letter(random)];
  return name;
}

/// What Elasticsearch makes of a mapping: its own notation, without what is a default.
struct Simulated {
  std::optional<json> mappings;        ///< none: it may not be asked, or refuses
  std::optional<std::string> refusal;  ///< why the mapping is refused
};

Simulated simulate(ElasticsearchClient& client, const IndexMapping& mapping) {
  const std::string doing = "asking whether Elasticsearch takes the mapping";
  // The pattern matches nobody's index, and the priority is beyond that of usual templates: Elasticsearch
  // refuses two templates with one priority and overlapping patterns.
  const json body = {
      {"index_patterns", {random_name("lockstep-check-")}},
      {"priority", 2'000'000'000 + static_cast<std::int64_t>(std::random_device{}() % 100'000'000)},
      {"template", {{"settings", mapping.settings}, {"mappings", mapping.mappings}}}};
  const HttpResponse response =
      client.send(doing, "POST", "/_index_template/_simulate", body.dump(), {400, 401, 403, 404, 405});
  if (response.status == 400) return {std::nullopt, reply_error(doing, response).parts().cause};
  if (response.status >= 400) return {};
  const json reply = parse_reply(doing, response);
  return {object_at(object_at(reply, "template"), "mappings"), std::nullopt};
}

/// Deletes the index on every way out.
class TemporaryIndex {
 public:
  TemporaryIndex(ElasticsearchClient& client, std::string name) : client_(client), name_(std::move(name)) {}
  TemporaryIndex(const TemporaryIndex&) = delete;
  TemporaryIndex& operator=(const TemporaryIndex&) = delete;
  ~TemporaryIndex() {
    try {
      client_.send("deleting index " + name_, "DELETE", "/" + percent_encoded(name_), {}, {404});
    } catch (const Error& error) {
      // The caller may have a more useful error; but nobody else says that the index is left.
      spdlog::warn("{}; delete it by hand", error.what());
    }
  }

 private:
  ElasticsearchClient& client_;
  const std::string name_;
};

std::optional<IndexPlan> refusal(const DesiredIndex& desired, const std::vector<IndexState>& found) {
  if (found.size() > 1) {
    std::vector<std::string> names;
    for (const IndexState& index : found) names.push_back(index.name);
    return refused(desired,
                   "the alias " + desired.alias + " stands for several indices: " + joined(names, ", "),
                   "remove it from all but one, or choose another alias");
  }
  const IndexState& index = found.front();
  if (index.name == desired.alias) {
    return refused(desired, desired.alias + " is an index, not an alias",
                   "choose another alias, or delete or rename that index if nobody needs it");
  }
  if (is_narrow(index, desired.alias)) return refused(desired, desired.alias + ": " + kNarrow, kWiden);
  const std::optional<IndexMark> mark = read_mark(index);
  if (!mark) {
    return refused(
        desired, "the alias " + desired.alias + " stands for " + index.name + ", which lockstep has not made",
        "choose another alias, or remove this one from that index");
  }
  if (mark->pipeline != desired.pipeline) {
    return refused(desired, index.name + " belongs to the pipeline \"" + mark->pipeline + "\"",
                   "choose another alias, or remove that pipeline with `lockstep remove --indices`");
  }
  if (mark->identity != desired.identity) {
    return refused(desired,
                   index.name + " belongs to a pipeline \"" + mark->pipeline +
                       "\" of another source (identity " + mark->identity + ")",
                   "choose another pipeline name and alias, or delete the index if that source is gone");
  }
  return std::nullopt;
}

/// Plans for an index that is ours.
IndexPlan compare(ElasticsearchClient& client, const DesiredIndex& desired, const IndexState& index) {
  IndexPlan plan{Kind::kNothing, desired.alias, index.name, {}, {}, {}};
  const IndexMark mark = *read_mark(index);
  const IndexMark wanted = wanted_mark(desired, mark);
  if (mark == wanted) return plan;

  if (mark.mapping_checksum != wanted.mapping_checksum) {
    const Simulated simulated = simulate(client, desired.mapping);
    if (simulated.refusal) {
      throw Error({"planning index " + desired.alias, *simulated.refusal, "correct the mapping file"});
    }
    std::vector<MappingDifference> differences =
        compare_mappings(simulated.mappings.value_or(desired.mapping.mappings), index.mappings);
    for (MappingDifference& difference : compare_settings(desired.mapping.settings, index.settings)) {
      differences.push_back(std::move(difference));
    }
    for (const MappingDifference& difference : differences) {
      if (difference.kind == MappingDifference::Kind::kNewIndex) {
        plan.kind = Kind::kReindex;
        if (!plan.problem.empty()) plan.problem += ", ";
        plan.problem += difference.text;
      }
      plan.changes.push_back(difference.text);
    }
    if (differences.empty()) plan.changes.emplace_back("note that the mapping file has changed");
  }
  if (mark.view != wanted.view || mark.alias != wanted.alias) {
    plan.changes.push_back("note that its view is " + wanted.view);
  }
  if (plan.kind == Kind::kReindex) {
    plan.remedy = remedy_of_new_index(desired.alias);
  } else {
    plan.kind = Kind::kUpdate;
  }
  return plan;
}

void update(ElasticsearchClient& client, const DesiredIndex& desired, const std::string& name) {
  const std::vector<IndexState> found = client.indices_of(name);
  const std::optional<IndexMark> mark = found.size() == 1 ? read_mark(found.front()) : std::nullopt;
  if (!mark || mark->identity != desired.identity) {
    throw Error({"changing index " + name, "it is no longer as it was planned", "run `lockstep plan` again"});
  }
  const IndexState& index = found.front();
  try {
    const json settings = changed_settings(desired.mapping.settings, index.settings);
    if (!settings.empty()) client.put_settings(name, settings);
    client.put_mapping(name, marked_mappings(desired, meta_of(index), *mark));
  } catch (const Error& error) {
    if (error.retryable() || !error.parts().remedy.empty()) throw;
    throw Error({error.parts().doing, error.parts().cause,
                 "this cannot be changed in place: " + remedy_of_new_index(desired.alias)});
  }
}

const IndexState& sole(const std::string& alias, const std::vector<IndexState>& found) {
  const std::string doing = "looking up the index of " + alias;
  if (found.empty()) throw Error({doing, "there is no such alias", "run `lockstep apply`"});
  if (found.size() > 1) {
    throw Error({doing, "the alias stands for " + std::to_string(found.size()) + " indices",
                 "remove it from all but the one that lockstep has made"});
  }
  if (is_narrow(found.front(), alias)) throw Error({doing, kNarrow, kWiden});
  return found.front();
}

/// Restoring a snapshot over a closed index keeps its uuid and gives it a history of its own.
std::string uuid_of(const IndexState& index) {
  const std::string history = text_at(index.settings, "index.history.uuid");
  return history.empty() ? index.uuid : index.uuid + "/" + history;
}

}  // namespace

std::optional<IndexMark> read_mark(const IndexState& index) {
  const json meta = meta_of(index);
  const auto found = meta.is_object() ? meta.find("lockstep") : meta.end();
  if (found == meta.end() || !found->is_object()) return std::nullopt;
  const StoredObject stored("the mark of the index " + index.name, *found);
  const std::optional<std::int64_t> epoch = stored.integer_if_any("epoch");
  if (!epoch) return std::nullopt;
  IndexMark mark;
  mark.epoch = Epoch{*epoch};
  mark.pipeline = stored.text("pipeline");
  mark.identity = stored.text("identity");
  mark.alias = stored.text_if_any("alias").value_or("");
  mark.view = stored.text_if_any("view").value_or("");
  mark.mapping_checksum = stored.text_if_any("mapping_checksum").value_or("");
  if (const auto source = stored.object_if_any("source")) {
    mark.source = {source->text("place"), source->text("timeline"), source->integer("progress"),
                   source->text_if_any("tables").value_or(""), source->text_if_any("mark").value_or("")};
  }
  return mark;
}

std::optional<IndexPlan> refusal_of_fields(const DesiredIndex& desired,
                                           const std::vector<std::string>& fields) {
  const std::vector<std::string> unknown = refused_fields(desired.mapping, fields);
  if (unknown.empty()) return std::nullopt;
  return refused(desired,
                 "view " + desired.view + " gives fields that the mapping of " + desired.alias +
                     " (\"dynamic\": \"strict\") does not have, so that every document would be refused: " +
                     joined(unknown, ", "),
                 "add them to the mapping, or begin their names in the view with _");
}

IndexPlan plan_index(ElasticsearchClient& client, const DesiredIndex& desired) {
  const std::vector<IndexState> found = client.indices_of(desired.alias);
  if (found.empty()) {
    if (const std::optional<std::string> problem = validate_mapping(client, desired.alias, desired.mapping)) {
      throw Error({"planning index " + desired.alias, *problem, "correct the mapping file"});
    }
    const std::string name = generation_name(desired.alias, next_number(client, desired.alias));
    return {Kind::kCreate,
            desired.alias,
            name,
            {"create index " + name + " with alias " + desired.alias},
            {},
            {}};
  }
  if (std::optional<IndexPlan> plan = refusal(desired, found)) return *plan;
  return compare(client, desired, found.front());
}

void apply_index_plan(ElasticsearchClient& client, const DesiredIndex& desired, const IndexPlan& plan) {
  switch (plan.kind) {
    case Kind::kNothing:
      return;
    case Kind::kCreate: {
      json body = new_index_body(desired, Epoch{});
      body["aliases"] = {{desired.alias, json::object()}};
      client.create_index(plan.index, body);
      return;
    }
    case Kind::kUpdate:
      update(client, desired, plan.index);
      return;
    case Kind::kReindex:
    case Kind::kRefuse:
      throw Error({"applying index " + desired.alias, plan.problem, plan.remedy});
  }
}

nlohmann::json new_index_body(const DesiredIndex& desired, Epoch epoch) {
  IndexMark written;
  written.epoch = epoch;
  return {{"settings", desired.mapping.settings},
          {"mappings", marked_mappings(desired, json::object(), written)}};
}

std::optional<std::string> validate_mapping(ElasticsearchClient& client, const std::string& alias,
                                            const IndexMapping& mapping) {
  const Simulated simulated = simulate(client, mapping);
  if (simulated.refusal) return simulated.refusal;
  if (simulated.mappings) return std::nullopt;

  const std::string name = random_name(alias + "-check-");
  const TemporaryIndex temporary(client, name);
  const json body = {{"settings", mapping.settings}, {"mappings", mapping.mappings}};
  const std::string doing = "creating index " + name + " to check the mapping";
  const HttpResponse response = client.send(doing, "PUT", "/" + percent_encoded(name), body.dump(), {400});
  if (response.status != 400) return std::nullopt;
  return reply_error(doing, response).parts().cause;
}

MarkedIndex marked_index(ElasticsearchClient& client, const std::string& alias) {
  return marked_index_of(alias, client.indices_of(alias));
}

MarkedIndex marked_index_of(const std::string& alias, const std::vector<IndexState>& found) {
  const IndexState& index = sole(alias, found);
  const std::optional<IndexMark> mark = read_mark(index);
  if (!mark) {
    throw Error({"reading the mark of index " + index.name, "it has none: lockstep has not made it",
                 "move the alias " + alias +
                     " back to the index that lockstep has made; or take it from this one and run `lockstep "
                     "apply`, which makes an index that `lockstep run` fills"});
  }
  return {*mark, uuid_of(index)};
}

void set_index_writer(ElasticsearchClient& client, const std::string& alias, Epoch epoch,
                      const SourceMark& source) {
  const std::vector<IndexState> found = client.indices_of(alias);
  const IndexState& index = sole(alias, found);
  if (!read_mark(index)) {
    throw Error({"marking index " + index.name, "lockstep has not made it", "run `lockstep plan`"});
  }
  json meta = meta_of(index);
  meta["lockstep"]["epoch"] = epoch.value;
  meta["lockstep"]["source"] = source_json(source);
  client.put_mapping(index.name, {{"_meta", std::move(meta)}});
}

}  // namespace lockstep
