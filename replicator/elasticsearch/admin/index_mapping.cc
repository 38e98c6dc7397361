#include "replicator/elasticsearch/admin/index_mapping.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "replicator/error.h"

namespace lockstep {
namespace {

using nlohmann::json;
using Kind = MappingDifference::Kind;

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

void compare_fields(const std::string& prefix, const json& wanted, const json& actual,
                    std::vector<MappingDifference>& differences);

/// Compares one field that both have, or the root (with an empty name).
void compare_field(const std::string& name, const json& wanted, const json& actual,
                   std::vector<MappingDifference>& differences) {
  const std::string where = name.empty() ? "mapping" : "field " + name;
  if (type_of(wanted) != type_of(actual)) {
    differences.push_back(
        {Kind::kNewIndex, where + ": type is " + type_of(actual) + ", wanted " + type_of(wanted)});
    return;
  }
  for (const auto& item : wanted.items()) {
    const std::string& key = item.key();
    if (key == "type" || key == "_meta") continue;
    const auto found = actual.find(key);
    if (key == "properties" || key == "fields") {
      const std::string prefix = name.empty() ? "" : name + ".";
      compare_fields(prefix, item.value(), found == actual.end() ? json::object() : *found, differences);
    } else if (found == actual.end()) {
      differences.push_back(
          {Kind::kChange, where + ": " + key + " is not set, wanted " + shown(item.value())});
    } else if (!same(item.value(), *found)) {
      differences.push_back(
          {Kind::kChange, where + ": " + key + " is " + shown(*found) + ", wanted " + shown(item.value())});
    }
  }
}

void compare_fields(const std::string& prefix, const json& wanted, const json& actual,
                    std::vector<MappingDifference>& differences) {
  for (const auto& item : wanted.items()) {
    const auto found = actual.find(item.key());
    if (found == actual.end()) {
      differences.push_back(
          {Kind::kAddition, "field " + prefix + item.key() + ": new, " + type_of(item.value())});
    } else {
      compare_field(prefix + item.key(), item.value(), *found, differences);
    }
  }
}

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

/// Settings that are fixed once an index exists, and those that only a closed index accepts: lockstep never
/// closes an index, since somebody may search it.
bool is_static(const std::string& key) {
  static constexpr std::string_view kStatic[] = {"index.number_of_shards",
                                                 "index.number_of_routing_shards",
                                                 "index.analysis.",
                                                 "index.sort.",
                                                 "index.codec",
                                                 "index.routing_partition_size",
                                                 "index.similarity.",
                                                 "index.store.",
                                                 "index.shard.check_on_startup",
                                                 "index.soft_deletes.enabled",
                                                 "index.mode",
                                                 "index.load_fixed_bitset_filters_eagerly",
                                                 "index.knn",
                                                 "index.replication.type"};
  return std::any_of(std::begin(kStatic), std::end(kStatic), [&key](std::string_view name) {
    return name.back() == '.' ? key.starts_with(name) : key == name;
  });
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
  // FNV-1a; dump() sorts objects by key. It tells files apart and protects from nobody.
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
  // "user.name" stands for {"user": {"name": …}}, in a mapping as in a document.
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

std::vector<MappingDifference> compare_mappings(const json& wanted, const json& actual) {
  std::vector<MappingDifference> differences;
  compare_field("", wanted, actual, differences);
  return differences;
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
  for (const auto& item : flat.items()) {
    if (has_setting(actual, item.key(), item.value())) continue;
    const auto found = actual.find(item.key());
    differences.push_back({is_static(item.key()) ? Kind::kNewIndex : Kind::kChange,
                           "setting " + item.key() +
                               (found == actual.end() ? " is not set" : " is " + shown(*found)) +
                               ", wanted " + shown(item.value())});
  }
  return differences;
}

json changed_settings(const json& wanted, const json& actual) {
  json changed = json::object();
  const json flat = flat_settings(wanted);
  for (const auto& item : flat.items()) {
    if (!is_static(item.key()) && !has_setting(actual, item.key(), item.value())) {
      changed[item.key()] = item.value();
    }
  }
  return changed;
}

}  // namespace lockstep
