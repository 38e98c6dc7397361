// The one table of configuration keys: names, types, limits, descriptions, examples. The parser, the
// validation, `print-config`, the sample and the test of docs/configuration.md all read it, so they always
// agree.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/config/text_checks.h"

namespace lockstep {

enum class ValueType {
  kText,
  kTexts,  ///< a list of texts
  kInteger,
  kShare,     ///< a number from 0 to 1
  kSize,      ///< "2MiB", or a number of bytes
  kDuration,  ///< "10s"
  kBoolean,
  kChoice,  ///< one of KeySpec::choices
  kFile,    ///< a readable file; relative to the configuration file
  kSecret,  ///< NAME, NAME_file or NAME_env
};

enum class Presence { kOptional, kRequired };

/// A value on its way between the file and a config struct. A choice is its number in KeySpec::choices.
using KeyValue = std::variant<bool, std::int64_t, std::chrono::milliseconds, std::string,
                              std::vector<std::string>, std::filesystem::path, Secret, double>;

struct KeySpec {
  std::string_view name;
  std::string_view description;  ///< a few sentences; Markdown
  std::string_view example;      ///< as TOML writes the value
  Presence presence = Presence::kOptional;
  /// Of integers, sizes in bytes and durations in milliseconds. A duration of 0 below it means none.
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string_view> choices = {};
  TextFault (*check)(const std::string& text) = nullptr;  ///< checks a text, or each text of a list
  ValueType type = ValueType::kText;                      ///< key() fills it in from the member
};

template <class Section>
struct Key {
  KeySpec spec;
  KeyValue (*get)(const Section& section);
  void (*set)(Section& section, const KeyValue& value);
};

/// The keys of a section's struct; for Config the keys above the first section.
template <class Section>
const std::vector<Key<Section>>& keys_of();
template <>
const std::vector<Key<Config>>& keys_of();
template <>
const std::vector<Key<SourceConfig>>& keys_of();
template <>
const std::vector<Key<ElasticsearchConfig>>& keys_of();
template <>
const std::vector<Key<ReplicationConfig>>& keys_of();
template <>
const std::vector<Key<HttpConfig>>& keys_of();
template <>
const std::vector<Key<SloConfig>>& keys_of();
template <>
const std::vector<Key<LogConfig>>& keys_of();
template <>
const std::vector<Key<LocksConfig>>& keys_of();
template <>
const std::vector<Key<TreeConfig>>& keys_of();
template <>
const std::vector<Key<IndexConfig>>& keys_of();
template <>
const std::vector<Key<TrackConfig>>& keys_of();

/// Calls `visit(name, Config::*)` for each [section], in the order of the reference.
template <class Visit>
void for_each_section(Visit&& visit) {
  visit("source", &Config::source);
  visit("elasticsearch", &Config::elasticsearch);
  visit("replication", &Config::replication);
  visit("http", &Config::http);
  visit("slo", &Config::slo);
  visit("log", &Config::log);
  visit("locks", &Config::locks);
  visit("tree", &Config::tree);
}

}  // namespace lockstep
