// The user's mapping file, {"settings": …, "mappings": …}, and what of it an index does not have yet.
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

/// Reads a mapping file's content; `name` is for messages. Throws UsageError, "<name>:<line>: <what>;
/// <remedy>", for what cannot be a mapping file; whether Elasticsearch takes the mapping is for it to say
/// (validate_mapping).
IndexMapping parse_mapping(std::string_view name, std::string_view text);

/// 16 hexadecimal digits that change with the meaning of the file and not with its spaces.
std::string checksum(const IndexMapping& mapping);

/// One thing that is wanted of an index and not so.
struct MappingDifference {
  enum class Kind {
    kAddition,  ///< can be put in place
    kChange,    ///< may be possible in place; Elasticsearch knows
    kNewIndex,  ///< needs a new index: a type, an analyzer's definition, the number of shards
  };
  Kind kind = Kind::kAddition;
  std::string text;  ///< for people: "field user.name: type is text, wanted keyword"
};

/// What `wanted` asks of the mappings and `actual` does not have. Whatever else `actual` has (fields that
/// came dynamically, defaults that the engine wrote out) does not count.
std::vector<MappingDifference> compare_mappings(const nlohmann::json& wanted, const nlohmann::json& actual);

/// The same for settings. `wanted` may be nested or flat, with or without "index."; `actual` is flat.
std::vector<MappingDifference> compare_settings(const nlohmann::json& wanted, const nlohmann::json& actual);

/// {"index.number_of_replicas": "1"}: one entry a setting, with "index.", scalars as strings.
nlohmann::json flat_settings(const nlohmann::json& settings);

/// The flat settings of `wanted` that differ from `actual` and may be changed in place.
nlohmann::json changed_settings(const nlohmann::json& wanted, const nlohmann::json& actual);

}  // namespace lockstep
