#include "replicator/elasticsearch/admin/index_mapping.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>

#include "replicator/error.h"

namespace lockstep {
namespace {

using nlohmann::json;
using Way = MappingDifference::Way;
using Reach = MappingDifference::Reach;

[[noreturn]] void fail(std::string_view name, std::ptrdiff_t line, const std::string& what) {
  throw UsageError(std::string(name) + ":" + std::to_string(line) + ": " + what);
}

std::ptrdiff_t line_of(std::string_view text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return 1 + std::count(text.begin(), end, '\n');
}

/// The line that first names the top-level key; 1 when none does.
std::ptrdiff_t line_of_key(std::string_view text, const std::string& key) {
  const std::size_t at = text.find('"' + key + '"');
  return at == std::string_view::npos ? 1 : line_of(text, at);
}

json parse_json(std::string_view name, std::string_view text) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    const std::size_t byte = error.byte > 0 ? error.byte - 1 : 0;
    fail(name, line_of(text, byte),
         "this is not JSON (at byte " + std::to_string(byte + 1) + "); correct it");
  }
}

/// Elasticsearch writes scalars as it likes: false and "false" mean the same in mappings and settings.
std::string scalar_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool same(const json& wanted, const json& actual) {
  if (wanted.is_object() && actual.is_object()) {
    return std::all_of(wanted.items().begin(), wanted.items().end(), [&](const auto& item) {
      const auto found = actual.find(item.key());
      return found != actual.end() && same(item.value(), *found);
    });
  }
  if (wanted.is_array() && actual.is_array()) {
    return std::equal(wanted.begin(), wanted.end(), actual.begin(), actual.end(), same);
  }
  // A list of one element may be written as that element.
  if (wanted.is_array() && wanted.size() == 1) return same(wanted.front(), actual);
  if (actual.is_array() && actual.size() == 1) return same(wanted, actual.front());
  if (wanted.is_structured() || actual.is_structured()) return false;
  return scalar_text(wanted) == scalar_text(actual);
}

std::string shown(const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return text.size() <= 60 ? text : "another value";
}

std::string type_of(const json& field) {
  const auto type = field.find("type");
  // Fields without a type are objects.
  return type == field.end() ? "object" : scalar_text(*type);
}

template <std::size_t Size>
bool is_one_of(const std::string& key, const std::array<std::string_view, Size>& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// Looked up by a search or a later document in the mapping. Every other parameter determines how a document
/// is indexed.
Reach reach_of(const std::string& parameter, const json& wanted) {
  static constexpr std::array<std::string_view, 12> kLookedUp = {"search_analyzer",
                                                                 "search_quote_analyzer",
                                                                 "fielddata",
                                                                 "fielddata_frequency_filter",
                                                                 "boost",
                                                                 "eager_global_ordinals",
                                                                 "meta",
                                                                 "runtime",
                                                                 "date_detection",
                                                                 "numeric_detection",
                                                                 "dynamic_templates",
                                                                 "dynamic_date_formats"};
  if (is_one_of(parameter, kLookedUp)) return Reach::kEveryDocument;
  // Fields that have come dynamically stay.
  const bool ends_dynamic = parameter == "dynamic" && (scalar_text(wanted) == "false" || wanted == "strict");
  return ends_dynamic ? Reach::kEveryDocument : Reach::kLaterWrites;
}

/// An engine writes the analyzer out if a mapping names another one for searches.
bool names_default(const std::string& parameter, const json& wanted) {
  return parameter == "analyzer" && wanted == "default";
}

/// Parameters that an engine resets when the mapping no longer names them.
constexpr std::array<std::string_view, 4> kReset = {"copy_to", "ignore_above", "coerce", "ignore_malformed"};

/// One of the fields that both have, or the root.
struct ComparedField {
  std::string name;  ///< "user.name"; empty: the root
  const json& wanted;
  const json& actual;
  /// Makes the mapping of an index out of a definition of this field.
  std::function<json(json definition)> in_mapping;

  std::string place() const { return name.empty() ? "mapping" : "field " + name; }
  /// As it is, without the fields below it.
  json alone() const {
    json definition = actual;
    for (const char* const below : {"properties", "fields", "_meta"}) definition.erase(below);
    if (name.empty()) definition = json::object();  // parts that the root does not name stay
    return definition;
  }
};

class MappingComparison {
 public:
  void compare(const ComparedField& field) {
    if (type_of(field.wanted) != type_of(field.actual)) {
      differences_.push_back({field.place(),
                              "type",
                              type_of(field.actual),
                              type_of(field.wanted),
                              Way::kNewIndex,
                              Reach::kEveryDocument,
                              {}});
      return;
    }
    for (const auto& [key, wanted] : field.wanted.items()) {
      const auto found = field.actual.find(key);
      if (key == "type" || key == "_meta") continue;
      if (key == "properties" || key == "fields") {
        compare_below(field, key, found == field.actual.end() ? json::object() : *found);
      } else if (found == field.actual.end() ? !names_default(key, wanted) : !same(wanted, *found)) {
        add(field, key, found == field.actual.end() ? "" : shown(*found), wanted);
      }
    }
    // No field below a disabled root is indexed, whatever its mapping.
    const auto enabled = field.actual.find("enabled");
    if (field.name.empty() && enabled != field.actual.end() && scalar_text(*enabled) == "false" &&
        !field.wanted.contains("enabled"))
      differences_.push_back(
          {field.place(), "enabled", "false", "", Way::kNewIndex, Reach::kEveryDocument, {}});
    for (const std::string_view key : kReset) {
      const auto found = field.actual.find(key);
      if (found != field.actual.end() && !field.wanted.contains(key))
        add(field, std::string(key), shown(*found), json());
    }
  }

  std::vector<MappingDifference> differences() { return std::move(differences_); }

 private:
  // `wanted` is null: no longer.
  void add(const ComparedField& field, const std::string& parameter, std::string is, const json& wanted) {
    json definition = field.alone();
    definition.erase(parameter);
    if (!wanted.is_null()) definition[parameter] = wanted;
    differences_.push_back({field.place(), parameter, std::move(is),
                            wanted.is_null() ? std::string() : shown(wanted), Way::kUnknown,
                            reach_of(parameter, wanted), field.in_mapping(std::move(definition))});
  }

  void compare_below(const ComparedField& field, const std::string& key, const json& actual) {
    for (const auto& item : field.wanted.at(key).items()) {
      const std::string& child = item.key();
      const json& wanted = item.value();
      const std::string name = (field.name.empty() ? "" : field.name + ".") + child;
      const auto in_mapping = [&](json definition) {
        json whole = field.alone();
        whole[key] = {{child, std::move(definition)}};
        return field.in_mapping(std::move(whole));
      };
      const auto found = actual.find(child);
      if (found != actual.end()) {
        compare({name, wanted, *found, in_mapping});
        continue;
      }
      const bool is_alias = type_of(wanted) == "alias";
      differences_.push_back({"field " + name, "", "", type_of(wanted), Way::kInPlace,
                              is_alias ? Reach::kEveryDocument : Reach::kLaterWrites, in_mapping(wanted)});
    }
  }

  std::vector<MappingDifference> differences_;
};

void flatten(const std::string& prefix, const json& settings, json& flat) {
  for (const auto& item : settings.items()) {
    const std::string key = prefix.empty() ? item.key() : prefix + "." + item.key();
    if (item.value().is_object()) {
      flatten(key, item.value(), flat);
    } else if (item.value().is_array()) {
      json texts = json::array();
      for (const json& element : item.value()) texts.push_back(scalar_text(element));
      flat[key] = texts;
    } else {
      flat[key] = item.value().is_null() ? json() : json(scalar_text(item.value()));
    }
  }
}

template <std::size_t Size>
bool is_setting_of(const std::string& key, const std::array<std::string_view, Size>& names) {
  return std::any_of(names.begin(), names.end(), [&key](std::string_view name) {
    return name.back() == '.' ? key.starts_with(name) : key == name;
  });
}

Way way_of_setting(const std::string& key) {
  static constexpr std::array<std::string_view, 8> kFixed = {"index.number_of_shards",
                                                             "index.number_of_routing_shards",
                                                             "index.sort.",
                                                             "index.routing_partition_size",
                                                             "index.soft_deletes.enabled",
                                                             "index.mode",
                                                             "index.knn",
                                                             "index.replication.type"};
  // Lockstep never closes an index, since it may be searched.
  static constexpr std::array<std::string_view, 8> kClosed = {"index.analysis.",
                                                              "index.codec",
                                                              "index.similarity.",
                                                              "index.store.",
                                                              "index.mapping.coerce",
                                                              "index.mapping.ignore_malformed",
                                                              "index.shard.check_on_startup",
                                                              "index.load_fixed_bitset_filters_eagerly"};
  if (is_setting_of(key, kFixed)) return Way::kNewIndex;
  return is_setting_of(key, kClosed) ? Way::kClosedIndex : Way::kUnknown;
}

/// Ingest pipelines change documents.
Reach reach_of_setting(const std::string& key) {
  static constexpr std::array<std::string_view, 2> kPipelines = {"index.default_pipeline",
                                                                 "index.final_pipeline"};
  return is_setting_of(key, kPipelines) ? Reach::kLaterWrites : Reach::kEveryDocument;
}

bool has_setting(const json& actual, const std::string& key, const json& value) {
  const auto found = actual.find(key);
  return found == actual.end() ? value.is_null() : same(value, *found);
}

}  // namespace

IndexMapping parse_mapping(std::string_view name, std::string_view text) {
  const json file = parse_json(name, text);
  if (!file.is_object())
    fail(name, 1, R"(this is not a JSON object; write {"settings": {…}, "mappings": {…}})");
  for (const auto& item : file.items()) {
    const std::string& key = item.key();
    const std::ptrdiff_t line = line_of_key(text, key);
    if (key == "properties" || key == "dynamic" || key == "_routing") {
      fail(name, line,
           "\"" + key + "\" belongs into \"mappings\"; write {\"mappings\": {\"" + key + "\": …}}");
    }
    if (key == "aliases")
      fail(name, line, "\"aliases\" is not for the mapping file; lockstep makes the alias, remove it");
    if (key != "settings" && key != "mappings") {
      fail(name, line, "unknown key \"" + key + R"("; a mapping file has "settings" and "mappings")");
    }
    if (!item.value().is_object()) fail(name, line, "\"" + key + "\" is not a JSON object; write {…}");
  }

  IndexMapping mapping;
  mapping.settings = file.value("settings", json::object());
  mapping.mappings = file.value("mappings", json::object());
  if (mapping.mappings.contains("_meta")) {
    mapping.meta = mapping.mappings["_meta"];
    if (!mapping.meta.is_object() || mapping.meta.contains("lockstep")) {
      fail(name, line_of_key(text, "_meta"),
           R"("_meta" must be an object without the key "lockstep"; rename it)");
    }
    mapping.mappings.erase("_meta");
  }
  return mapping;
}

std::string checksum(const IndexMapping& mapping) {
  // FNV-1a; dump() sorts objects by key. It distinguishes files and is no protection.
  std::uint64_t hash = 14695981039346656037u;
  const json whole = {mapping.settings, mapping.mappings, mapping.meta};
  for (const char c : whole.dump()) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

std::vector<std::string> refused_fields(const IndexMapping& mapping, const std::vector<std::string>& fields) {
  const json& mappings = mapping.mappings;
  if (!mappings.contains("dynamic") || mappings.at("dynamic") != "strict") return {};
  // "user.name" means {"user": {"name": …}}, in a mapping as in a document.
  const auto first_name = [](const std::string& name) { return name.substr(0, name.find('.')); };
  std::vector<std::string> known;
  for (const char* const part : {"properties", "runtime"}) {
    if (!mappings.contains(part)) continue;
    for (const auto& [name, field] : mappings.at(part).items()) known.push_back(first_name(name));
  }
  std::vector<std::string> refused;
  for (const std::string& field : fields) {
    if (std::find(known.begin(), known.end(), first_name(field)) == known.end()) refused.push_back(field);
  }
  return refused;
}

std::string MappingDifference::text() const {
  if (parameter.empty() && is.empty() && !is_setting()) return place + ": new, " + wanted;
  return place + (parameter.empty() ? " " : ": " + parameter + " ") +
         (is.empty() ? "is not set" : "is " + is) + ", wanted " + (wanted.empty() ? "unset" : wanted);
}

std::string_view name_of(MappingDifference::Way way) {
  static constexpr std::array<std::string_view, 4> kNames = {"in_place", "unknown", "closed_index",
                                                             "new_index"};
  return kNames.at(static_cast<std::size_t>(way));
}

std::vector<MappingDifference> compare_mappings(const json& wanted, const json& actual) {
  MappingComparison comparison;
  comparison.compare({"", wanted, actual, [](json definition) { return definition; }});
  return comparison.differences();
}

json flat_settings(const json& settings) {
  json flat = json::object();
  flatten("", settings, flat);
  json named = json::object();
  for (const auto& item : flat.items()) {
    const bool prefixed = item.key().starts_with("index.");
    named[prefixed ? item.key() : "index." + item.key()] = item.value();
  }
  return named;
}

std::vector<MappingDifference> compare_settings(const json& wanted, const json& actual) {
  std::vector<MappingDifference> differences;
  const json flat = flat_settings(wanted);
  for (const auto& [key, value] : flat.items()) {
    if (has_setting(actual, key, value)) continue;
    const auto found = actual.find(key);
    differences.push_back({"setting " + key,
                           "",
                           found == actual.end() ? "" : shown(*found),
                           value.is_null() ? "" : shown(value),
                           way_of_setting(key),
                           reach_of_setting(key),
                           {{key, value}}});
  }
  return differences;
}

json changed_settings(const json& wanted, const json& actual) {
  json changed = json::object();
  for (const MappingDifference& difference : compare_settings(wanted, actual)) {
    if (difference.way == Way::kUnknown) changed.update(difference.change);
  }
  return changed;
}

}  // namespace lockstep
