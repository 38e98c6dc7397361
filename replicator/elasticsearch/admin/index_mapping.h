// The user's mapping file, {"settings": …, "mappings": …}, and its differences from an index.
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
/// <remedy>", for anything that cannot be a mapping file. Only Elasticsearch knows whether it accepts the
/// mapping (validate_mapping).
IndexMapping parse_mapping(std::string_view name, std::string_view text);

/// 16 hexadecimal digits that depend on the meaning of the file, not on its white space.
std::string checksum(const IndexMapping& mapping);

/// Those of the top-level fields `fields` for which Elasticsearch would refuse every document: the mapping
/// takes no others than its own ("dynamic": "strict"), and does not name them.
std::vector<std::string> refused_fields(const IndexMapping& mapping, const std::vector<std::string>& fields);

/// One difference between the wanted and the actual index.
struct MappingDifference {
  enum class Way {
    kInPlace,      ///< can be done in the index as it is
    kUnknown,      ///< only Elasticsearch knows: see settle_ways() in trial_index.h
    kClosedIndex,  ///< needs a closed index, which cannot be searched, or a new one: an analyzer's definition
    kNewIndex,     ///< needs a new index: a type, the number of shards
  };
  /// The documents that a change in place reaches.
  enum class Reach {
    kEveryDocument,
    kLaterWrites,  ///< a document that was written before has to be written again
  };
  std::string place;      ///< "field user.name", "mapping", "setting index.codec", "view", "column title"
  std::string parameter;  ///< of the field or mapping; empty: the field is new, or it is none of a mapping
  std::string is;         ///< empty: not set
  std::string wanted;     ///< a new field's type; empty: not set any more
  Way way = Way::kInPlace;
  Reach reach = Reach::kEveryDocument;
  nlohmann::json change;  ///< this difference alone, as the mapping or the settings of an index take it

  bool is_setting() const { return place.starts_with("setting "); }
  /// "field user.name: type is text, wanted keyword"
  std::string text() const;
};

/// "in_place", "unknown", "closed_index", "new_index".
std::string_view name_of(MappingDifference::Way way);

/// The parts of the `wanted` mappings that `actual` lacks, and dropped settings that change how documents are
/// indexed. Anything else in `actual` (dynamic fields, defaults that the engine wrote out) does not count.
std::vector<MappingDifference> compare_mappings(const nlohmann::json& wanted, const nlohmann::json& actual);

/// The same for settings. `wanted` may be nested or flat, with or without "index."; `actual` is flat.
std::vector<MappingDifference> compare_settings(const nlohmann::json& wanted, const nlohmann::json& actual);

/// {"index.number_of_replicas": "1"}: one entry for each setting, with "index.", scalars as strings.
nlohmann::json flat_settings(const nlohmann::json& settings);

/// The flat settings of `wanted` that differ from `actual` and can change in place.
nlohmann::json changed_settings(const nlohmann::json& wanted, const nlohmann::json& actual);

}  // namespace lockstep
