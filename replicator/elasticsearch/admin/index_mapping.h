// The user's mapping file, {"settings": …, "mappings": …}, and what an index lacks of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct IndexMapping {
  nlohmann::json settings = nlohmann::json::object();  ///< as written
  nlohmann::json mappings = nlohmann::json::object();  ///< as written, without `_meta`
  nlohmann::json meta = nlohmann::json::object();      ///< the user's own `_meta`
};

/// Reads the content of a mapping file; `name` is for messages. Throws UsageError, "<name>:<line>: <what>;
/// <remedy>", for what cannot be a mapping file. Only Elasticsearch knows whether it accepts the mapping
/// (validate_mapping).
IndexMapping parse_mapping(std::string_view name, std::string_view text);

/// 16 hexadecimal digits that depend on the meaning of the file, not on its white space.
std::string checksum(const IndexMapping& mapping);

/// Those of the top-level fields `fields` for which Elasticsearch would refuse every document: the mapping
/// takes no others than its own ("dynamic": "strict"), and does not name them.
std::vector<std::string> refused_fields(const IndexMapping& mapping, const std::vector<std::string>& fields);

/// One difference between the wanted and the actual index.
struct MappingDifference {
  enum class Kind {
    kAddition,  ///< can be added in place
    kChange,    ///< may be possible in place: only Elasticsearch knows
    kNewIndex,  ///< needs a new index: a type, an analyzer's definition, the number of shards
  };
  Kind kind = Kind::kAddition;
  std::string text;  ///< for people: "field user.name: type is text, wanted keyword"
};

/// What `actual` lacks of the `wanted` mappings. Whatever else `actual` has (dynamic fields, defaults that
/// the engine wrote out) does not count.
std::vector<MappingDifference> compare_mappings(const nlohmann::json& wanted, const nlohmann::json& actual);

/// The same for settings. `wanted` may be nested or flat, with or without "index."; `actual` is flat.
std::vector<MappingDifference> compare_settings(const nlohmann::json& wanted, const nlohmann::json& actual);

/// {"index.number_of_replicas": "1"}: one entry for each setting, with "index.", scalars as strings.
nlohmann::json flat_settings(const nlohmann::json& settings);

/// The flat settings of `wanted` that differ from `actual` and can change in place.
nlohmann::json changed_settings(const nlohmann::json& wanted, const nlohmann::json& actual);

}  // namespace lockstep
