#include "replicator/elasticsearch/admin/index_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "replicator/elasticsearch/admin/adoption.h"
#include "replicator/elasticsearch/admin/generations.h"
#include "replicator/elasticsearch/admin/index_fitness.h"
#include "replicator/elasticsearch/admin/temporary_index.h"
#include "replicator/elasticsearch/admin/trial_index.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/scheduler.h"

namespace lockstep {
namespace {

using nlohmann::json;
using Kind = IndexPlan::Kind;

/// The wanted mark of an index, with the writer that `written` has.
IndexMark wanted_mark(const DesiredIndex& desired, const IndexMark& written) {
  IndexMark mark = {desired.pipeline,          desired.identity, desired.alias, desired.view,
                    checksum(desired.mapping), written.epoch,    written.source};
  mark.doubt = written.doubt;
  return mark;
}

/// The wanted mappings with `meta` and the mark.
json marked_mappings(const DesiredIndex& desired, json meta, const IndexMark& written,
                     const std::string& unwritten = {}) {
  meta.update(desired.mapping.meta);
  IndexMark mark = wanted_mark(desired, written);
  mark.unwritten = unwritten;
  meta["lockstep"] = mark_json(mark);
  json mappings = desired.mapping.mappings;
  mappings["_meta"] = std::move(meta);
  return mappings;
}

std::string remedy_of_new_index(const std::string& alias) {
  return "run `lockstep reindex " + alias + "`: a new index is filled alongside, and takes its place";
}

constexpr const char* kNarrow = "the alias has a filter or a routing, so it does not cover the whole index";
constexpr const char* kWiden = "remove the alias and add it again without";

bool is_narrow(const IndexState& index, const std::string& alias) {
  return std::find(index.narrow_aliases.begin(), index.narrow_aliases.end(), alias) !=
         index.narrow_aliases.end();
}

IndexPlan refused(const DesiredIndex& desired, std::string problem, std::string remedy) {
  IndexPlan plan;
  plan.kind = Kind::kRefuse;
  plan.alias = desired.alias;
  plan.problem = std::move(problem);
  plan.remedy = std::move(remedy);
  return plan;
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

/// As reasons of a job are read: not every field of a long list.
std::string joined_in_short(std::vector<std::string> parts) {
  constexpr std::size_t kNamed = 3;
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  if (parts.size() > kNamed + 1) {
    const std::size_t others = parts.size() - kNamed;
    parts.resize(kNamed);
    return joined(parts, ", ") + " and " + std::to_string(others) + " more";
  }
  return joined(parts, ", ");
}

std::int64_t next_number(ElasticsearchClient& client, const std::string& alias) {
  const std::vector<IndexState> existing = client.generations(alias);
  return existing.empty() ? 1 : generation_number(alias, existing.back().name) + 1;
}

/// Elasticsearch's version of a mapping: in its own notation, without the defaults.
struct Simulated {
  std::optional<json> mappings;        ///< none: it may not be asked, or refuses
  std::optional<std::string> refusal;  ///< why the mapping is refused
};

Simulated simulate(ElasticsearchClient& client, const IndexMapping& mapping) {
  const std::string doing = "asking whether Elasticsearch takes the mapping";
  // The pattern matches no index, and the priority is beyond that of usual templates: Elasticsearch refuses
  // two templates with one priority and overlapping patterns.
  const json body = {{"index_patterns", {random_name("lockstep-check-")}},
                     {"priority", 2'000'000'000 + static_cast<std::int64_t>(random_seed() % 100'000'000)},
                     {"template", {{"settings", mapping.settings}, {"mappings", mapping.mappings}}}};
  const HttpResponse response =
      client.send(doing, "POST", "/_index_template/_simulate", body.dump(), {400, 401, 403, 404, 405});
  if (response.status == 400) return {std::nullopt, reply_error(doing, response).parts().cause};
  if (response.status >= 400) return {};
  const json reply = parse_reply(doing, response);
  return {object_at(object_at(reply, "template"), "mappings"), std::nullopt};
}

std::optional<IndexMark> mark_with_remedy(const IndexState& index, const std::string& remedy) {
  try {
    return read_mark(index);
  } catch (const Error& error) {
    throw Error({error.parts().doing, error.parts().cause, remedy});
  }
}

std::optional<IndexPlan> refusal(const DesiredIndex& desired, const std::vector<IndexState>& found) {
  if (found.size() > 1) {
    std::vector<std::string> names;
    for (const IndexState& index : found) names.push_back(index.name);
    return refused(desired,
                   "the alias " + desired.alias + " points to several indices: " + joined(names, ", "),
                   "remove it from all but one, or choose another alias");
  }
  const IndexState& index = found.front();
  const std::string adopt = "`lockstep adopt " + desired.alias + "`";
  const std::optional<IndexMark> mark = mark_with_remedy(index, remedy_of_lost_mark(desired.alias));
  if (index.name == desired.alias) {
    return refused(desired, desired.alias + " is an index, not an alias",
                   "choose another alias, or take the index over with " + adopt);
  }
  if (is_narrow(index, desired.alias)) return refused(desired, desired.alias + ": " + kNarrow, kWiden);
  if (!mark) {
    if (const auto other = other_owner(index, desired.pipeline, desired.identity))
      return refused(desired, index.name + " belongs to the pipeline " + *other, "choose another alias");
    return refused(
        desired, "the alias " + desired.alias + " points to " + index.name + ", which lockstep has not made",
        "move the alias back if it was moved by hand; otherwise choose another alias, or take the index over "
        "with " +
            adopt);
  }
  if (mark->pipeline != desired.pipeline) {
    return refused(desired, index.name + " belongs to the pipeline \"" + mark->pipeline + "\"",
                   "choose another alias, or remove that pipeline with `lockstep remove --indices`");
  }
  if (mark->identity != desired.identity) {
    return refused(desired,
                   index.name + " belongs to a pipeline \"" + mark->pipeline +
                       "\" of another source, or of an earlier installation in this one (identity " +
                       mark->identity + ")",
                   "if that pipeline is in use, choose another pipeline name and alias; if it is gone, take "
                   "the index over with " +
                       adopt);
  }
  if (!mark->uncompared.empty()) {
    return refused(desired, index.name + " was taken over from " + mark->uncompared + " but for a last step",
                   "finish that with " + adopt);
  }
  return std::nullopt;
}

/// Whether a part of the mapping copies fields to `field`.
bool is_copied_to(const json& mapping, const std::string& field) {
  if (!mapping.is_object()) return false;
  const auto names_it = [&](const json& target) { return target == field; };
  const auto copied = mapping.find("copy_to");
  if (copied != mapping.end()) {
    if (names_it(*copied) || (copied->is_array() && std::any_of(copied->begin(), copied->end(), names_it)))
      return true;
  }
  return std::any_of(mapping.begin(), mapping.end(),
                     [&](const json& part) { return is_copied_to(part, field); });
}

/// Whether documents may have values for a field that is new in the mapping.
bool may_be_in_documents(const DesiredIndex& desired, const json& mappings, const std::string& field) {
  if (!desired.fields || is_copied_to(mappings, field)) return true;
  const auto first_name = [](const std::string& name) { return name.substr(0, name.find('.')); };
  return std::any_of(desired.fields->begin(), desired.fields->end(),
                     [&](const std::string& known) { return first_name(known) == first_name(field); });
}

/// The mapping file's settings; and those that remove the remains of a filling from a searched index:
/// refreshes that are off, a name that patterns do not find.
json wanted_settings(const DesiredIndex& desired, const IndexState& index) {
  json wanted = flat_settings(desired.mapping.settings);
  for (const auto& [name, of_filling] :
       {std::pair("index.refresh_interval", "-1"), std::pair("index.hidden", "true")}) {
    if (!wanted.contains(name) && text_at(index.settings, name) == of_filling) wanted[name] = nullptr;
  }
  return wanted;
}

enum class MappingFile {
  kNew,        ///< whether Elasticsearch takes it is not known
  kAsApplied,  ///< the difference is a change of the index
};

std::vector<MappingDifference> differences_of(ElasticsearchClient& client, const DesiredIndex& desired,
                                              const IndexState& index, MappingFile file) {
  const Simulated simulated = simulate(client, desired.mapping);
  if (simulated.refusal && file == MappingFile::kNew)
    throw Error({"planning index " + desired.alias, *simulated.refusal, "correct the mapping file"});
  const json mappings = simulated.mappings.value_or(desired.mapping.mappings);
  std::vector<MappingDifference> differences;
  // Each default that a file writes out would be a difference if Elasticsearch may not be asked.
  if (simulated.mappings || file == MappingFile::kNew)
    differences = compare_mappings(mappings, index.mappings);
  for (MappingDifference& difference : compare_settings(wanted_settings(desired, index), index.settings))
    differences.push_back(std::move(difference));
  settle_ways(client, desired.alias, index, mappings, differences);
  for (MappingDifference& difference : differences) {
    const std::string_view kField = "field ";
    const bool is_new = difference.parameter.empty() && difference.place.starts_with(kField);
    if (is_new && !may_be_in_documents(desired, mappings, difference.place.substr(kField.size())))
      difference.reach = MappingDifference::Reach::kEveryDocument;
  }
  return differences;
}

bool is_in_place(const MappingDifference& difference) {
  return difference.way == MappingDifference::Way::kInPlace;
}

/// Plans for an index that is ours.
IndexPlan compare(ElasticsearchClient& client, const DesiredIndex& desired, const IndexState& index) {
  IndexPlan plan;
  plan.alias = desired.alias;
  plan.index = index.name;
  plan.other_aliases = other_aliases(index, desired.alias);
  const IndexMark mark = *read_mark(index);
  const IndexMark wanted = wanted_mark(desired, mark);
  plan.differences = desired.documents;
  std::vector<std::string> problems;
  for (const MappingDifference& difference : plan.differences) {
    if (difference.way == MappingDifference::Way::kInPlace) continue;
    problems.push_back(difference.text());
    plan.changes.push_back(difference.text());
  }
  const bool is_new_file = mark.mapping_checksum != wanted.mapping_checksum;
  const std::vector<MappingDifference> differences =
      differences_of(client, desired, index, is_new_file ? MappingFile::kNew : MappingFile::kAsApplied);
  std::vector<std::string> unwritten;
  if (!mark.unwritten.empty()) unwritten.push_back(mark.unwritten);
  for (const MappingDifference& difference : differences) {
    plan.differences.push_back(difference);
    // A change of the index that cannot be undone there is named, and blocks nothing.
    if (!is_in_place(difference) && !is_new_file) continue;
    plan.changes.push_back(difference.text());
    if (!is_in_place(difference)) problems.push_back(difference.text());
    if (difference.reach == MappingDifference::Reach::kLaterWrites) unwritten.push_back(difference.place);
  }
  if (mark == wanted && plan.changes.empty() && problems.empty()) return plan;
  plan.kind = Kind::kUpdate;
  if (is_new_file && differences.empty()) plan.changes.emplace_back("note that the mapping file has changed");
  if (problems.empty() && (mark.view != wanted.view || mark.alias != wanted.alias)) {
    plan.changes.push_back("note that its view is " + wanted.view);
  }
  plan.unwritten = joined_in_short(unwritten);
  if (problems.empty()) return plan;
  plan.kind = Kind::kReindex;
  plan.problem = joined(problems, ", ");
  plan.remedy = remedy_of_new_index(desired.alias);
  return plan;
}

/// Whether a process has taken it over for us and was cut off.
bool is_half_adopted(const DesiredIndex& desired, const IndexMark& mark) {
  return !desired.identity.empty() && mark.identity == desired.identity && !mark.uncompared.empty();
}

/// None: there is nothing to adopt.
std::optional<IndexPlan> plan_adoption(ElasticsearchClient& client, const DesiredIndex& desired,
                                       const std::vector<IndexState>& found) {
  if (desired.foreign != DesiredIndex::Foreign::kAdopt || found.size() > 1) return std::nullopt;
  const IndexState& index = found.front();
  if (is_narrow(index, desired.alias)) return std::nullopt;
  const std::optional<IndexMark> mark = readable_mark(index);
  const bool is_of_other_installation =
      mark && mark->pipeline == desired.pipeline && mark->identity != desired.identity;
  if (!is_of_other_installation) {
    if (other_owner(index, desired.pipeline, desired.identity)) return std::nullopt;
    if (mark && !is_half_adopted(desired, *mark)) return std::nullopt;
  }
  if (const std::optional<UnfitIndex> why = why_not_adoptable(index))
    return refused(desired, why->problem, why->remedy);
  DesiredIndex as_it_is = desired;
  as_it_is.mapping.mappings = index.mappings;
  const auto unknown = desired.fields ? refusal_of_fields(as_it_is, *desired.fields) : std::nullopt;
  if (unknown) {
    return refused(desired, "index " + index.name + " as it is: " + unknown->problem,
                   "add them to the mapping of that index, or begin their names in the view with _");
  }
  IndexPlan plan;
  plan.kind = Kind::kAdopt;
  plan.alias = desired.alias;
  plan.index = index.name;
  if (is_of_other_installation)
    plan.taken_from = mark->identity;
  else
    plan.was_cut_off = mark.has_value();
  plan.differences = differences_of(client, desired, index, MappingFile::kNew);
  plan.changes.push_back(index.name == desired.alias
                             ? "gets another name, and " + desired.alias +
                                   " becomes an alias of it; it takes no writes for that moment"
                             : std::string("becomes lockstep's"));
  if (is_of_other_installation) {
    plan.changes.push_back("is taken over from the installation " + mark->identity +
                           " of this pipeline, which must not follow it any more");
  }
  return plan;
}

IndexMark mark_of_adopted(const DesiredIndex& desired, const IndexPlan& plan) {
  IndexMark mark = wanted_mark(desired, {});
  if (!plan.differences.empty()) mark.mapping_checksum.clear();  // so that the next plan compares them
  return mark;
}

void adopt(ElasticsearchClient& client, const DesiredIndex& desired, const IndexPlan& plan) {
  IndexMark mark = mark_of_adopted(desired, plan);
  mark.uncompared = "index " + plan.index;
  if (!plan.taken_from.empty()) mark.doubt = "it was taken over from another installation";
  adopt_index(client, desired.alias, mark, plan.taken_from);
}

/// The index `name`, which is still ours.
IndexState own_index(ElasticsearchClient& client, const DesiredIndex& desired, const std::string& name) {
  std::vector<IndexState> found = client.indices_of(name);
  const std::optional<IndexMark> mark = found.size() == 1 ? read_mark(found.front()) : std::nullopt;
  if (!mark || mark->identity != desired.identity) {
    throw Error({"changing index " + name, "it is no longer as it was planned", "run `lockstep plan` again"});
  }
  return std::move(found.front());
}

void forget(ElasticsearchClient& client, const DesiredIndex& desired, const std::string& name,
            const char* what) {
  const IndexState index = own_index(client, desired, name);
  json meta = meta_of(index);
  meta["lockstep"].erase(what);
  client.put_mapping(index.name, {{"_meta", std::move(meta)}});
  keep_in_mark(client, index.name, {{what, nullptr}});
}

/// Those keys of a mark that only `apply` writes. A leader writes the others.
json applied_keys(json mark) {
  for (const char* const leaders : {"epoch", "source", "doubt"}) mark.erase(leaders);
  mark.emplace("unwritten", nullptr);
  return mark;
}

/// The possible parts of a plan, one by one: Elasticsearch refuses the whole of a mapping for a part of it.
void put_differences(ElasticsearchClient& client, const IndexPlan& plan) {
  for (const MappingDifference& difference : plan.differences) {
    if (!is_in_place(difference) || !difference.change.is_object()) continue;
    if (difference.is_setting())
      client.put_settings(plan.index, difference.change);
    else
      client.put_mapping(plan.index, difference.change);
  }
}

void update(ElasticsearchClient& client, const DesiredIndex& desired, const IndexPlan& plan) {
  const IndexState index = own_index(client, desired, plan.index);
  json mappings = marked_mappings(desired, meta_of(index), *read_mark(index), plan.unwritten);
  const json keys = applied_keys(mappings.at("_meta").at("lockstep"));
  try {
    if (std::all_of(plan.differences.begin(), plan.differences.end(), is_in_place)) {
      const json settings = changed_settings(wanted_settings(desired, index), index.settings);
      if (!settings.empty()) client.put_settings(plan.index, settings);
    } else {
      put_differences(client, plan);
      mappings = {{"_meta", mappings.at("_meta")}};
    }
    client.put_mapping(plan.index, mappings);
    keep_in_mark(client, plan.index, keys);
  } catch (const Error& error) {
    if (error.retryable() || !error.parts().remedy.empty()) throw;
    throw Error({error.parts().doing, error.parts().cause,
                 "this cannot be changed in place: " + remedy_of_new_index(desired.alias)});
  }
}

/// What messages say of an index behind the searchers' alias.
SoughtIndex searched_index(const std::string& alias) {
  return {alias, "run `lockstep apply`", remedy_of_lost_mark(alias)};
}

const IndexState& sole(const std::string& alias, const std::vector<IndexState>& found,
                       const SoughtIndex& sought) {
  const std::string doing = "looking up the index of " + sought.name;
  if (found.empty()) throw Error({doing, "there is no index or alias of this name", sought.if_gone});
  if (found.size() > 1) {
    throw Error({doing, "the alias points to " + std::to_string(found.size()) + " indices",
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

std::optional<IndexPlan> refusal_of_mapping(const DesiredIndex& desired) {
  const auto unfit = why_unfit(desired.mapping.mappings, flat_settings(desired.mapping.settings));
  if (!unfit) return std::nullopt;
  return refused(desired, "the mapping of " + desired.alias + " sets " + unfit->problem, unfit->remedy);
}

void require_fit_index(ElasticsearchClient& client, const std::string& index) {
  for (const IndexState& found : client.indices_of(index)) {
    const auto unfit = why_unfit(found.mappings, found.settings);
    if (!unfit) continue;
    client.delete_index(found.name);
    throw Error({"creating index " + index, "an index template of Elasticsearch sets " + unfit->problem,
                 unfit->remedy + ", in that template or by the mapping file"});
  }
}

std::string_view name_of(IndexPlan::Kind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"nothing", "create", "update",
                                                             "reindex", "adopt",  "refuse"};
  return kNames.at(static_cast<std::size_t>(kind));
}

IndexPlan plan_index(ElasticsearchClient& client, const DesiredIndex& desired) {
  if (std::optional<IndexPlan> plan = refusal_of_mapping(desired)) return *plan;
  const std::vector<IndexState> found = client.indices_of(desired.alias);
  if (found.empty()) {
    if (const std::optional<std::string> problem = validate_mapping(client, desired.alias, desired.mapping)) {
      throw Error({"planning index " + desired.alias, *problem, "correct the mapping file"});
    }
    const std::string name = generation_name(desired.alias, next_number(client, desired.alias));
    IndexPlan plan;
    plan.kind = Kind::kCreate;
    plan.alias = desired.alias;
    plan.index = name;
    plan.changes = {"create index " + name + " with alias " + desired.alias};
    return plan;
  }
  if (std::optional<IndexPlan> plan = plan_adoption(client, desired, found)) return *plan;
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
      try {
        client.create_index(plan.index, body);
      } catch (const Error&) {  // another `apply` may have made it meanwhile
        if (plan_index(client, desired).kind != Kind::kNothing) throw;
      }
      require_fit_index(client, plan.index);
      return;
    }
    case Kind::kUpdate:
      update(client, desired, plan);
      return;
    case Kind::kAdopt:
      adopt(client, desired, plan);
      return;
    case Kind::kReindex:
    case Kind::kRefuse:
      throw Error({"applying index " + desired.alias, plan.problem, plan.remedy});
  }
}

void forget_unwritten(ElasticsearchClient& client, const DesiredIndex& desired, const std::string& index) {
  forget(client, desired, index, "unwritten");
}

void forget_uncompared(ElasticsearchClient& client, const DesiredIndex& desired) {
  forget(client, desired, desired.alias, "uncompared");
}

void put_mark_back(ElasticsearchClient& client, const DesiredIndex& desired, const IndexPlan& plan) {
  if (plan.kind != Kind::kAdopt || plan.was_cut_off || plan.index == desired.alias) {
    throw Error({"putting the mark of index " + desired.alias + " back",
                 plan.problem.empty() ? "it is no longer as it was planned" : plan.problem,
                 plan.remedy.empty() ? "run `lockstep adopt` again" : plan.remedy});
  }
  IndexMark mark = mark_of_adopted(desired, plan);
  mark.doubt = "its mark was put back";
  adopt_index(client, desired.alias, mark, plan.taken_from);
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

  const TemporaryIndex temporary(client, alias);
  const std::string& name = temporary.name();
  const json body = {{"settings", mapping.settings}, {"mappings", mapping.mappings}};
  const std::string doing = "creating index " + name + " to check the mapping";
  const HttpResponse response = client.send(doing, "PUT", "/" + percent_encoded(name), body.dump(), {400});
  if (response.status != 400) return std::nullopt;
  return reply_error(doing, response).parts().cause;
}

std::string remedy_of_lost_mark(const std::string& alias) {
  return "if the alias was moved by hand, move " + alias +
         " back to the index that lockstep has made; if this index is to be followed, run `lockstep adopt " +
         alias + "`, which compares it with its view and puts the mark back";
}

MarkedIndex marked_index(ElasticsearchClient& client, const std::string& alias, const SoughtIndex& sought) {
  return marked_index_of(alias, client.indices_of(alias), sought);
}

MarkedIndex marked_index_of(const std::string& alias, const std::vector<IndexState>& found,
                            const SoughtIndex& sought) {
  const IndexState& index = sole(alias, found, sought);
  const std::optional<IndexMark> mark = mark_with_remedy(index, sought.if_unmarked);
  if (!mark) {
    throw Error({"reading the mark of index " + index.name,
                 "it has none: lockstep has not made it, or the mapping's _meta was overwritten",
                 sought.if_unmarked});
  }
  return {*mark, uuid_of(index)};
}

MarkedIndex marked_index(ElasticsearchClient& client, const std::string& alias) {
  return marked_index(client, alias, searched_index(alias));
}

MarkedIndex marked_index_of(const std::string& alias, const std::vector<IndexState>& found) {
  return marked_index_of(alias, found, searched_index(alias));
}

void set_index_writer(ElasticsearchClient& client, const std::string& alias, const SoughtIndex& sought,
                      const std::string& identity, Epoch epoch, const SourceMark& source,
                      const std::string& settled) {
  const std::vector<IndexState> found = client.indices_of(alias);
  const IndexMark mark = marked_index_of(alias, found, sought).mark;
  const IndexState& index = found.front();
  if (mark.identity != identity) {
    throw Error({"marking index " + index.name, "it carries the mark of pipeline " + mark.pipeline,
                 "run `lockstep plan`"});
  }
  json meta = meta_of(index);
  meta["lockstep"]["epoch"] = epoch.value;
  meta["lockstep"]["source"] = source_json(source);
  if (!settled.empty() && text_at(meta["lockstep"], "doubt") == settled) meta["lockstep"].erase("doubt");
  client.put_mapping(index.name, {{"_meta", std::move(meta)}});
}

}  // namespace lockstep
