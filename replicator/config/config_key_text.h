// The table of configuration keys in words, for the reference and the sample, and values as TOML writes them.
#pragma once

#include <string>
#include <vector>

#include "replicator/config/config_keys.h"

namespace lockstep {

/// A key in words.
struct ConfigKey {
  std::string section;  ///< "", "source", …, "index", "index.track"
  std::string name;
  std::string type;  ///< "duration, 100ms to 1h", "list of texts", "one of `tree`, `global`, `document`"
  std::string default_value;  ///< in TOML; empty: none
  std::string description;
  std::string example;  ///< in TOML
  Presence presence = Presence::kOptional;
};

/// The whole table, section by section.
std::vector<ConfigKey> config_keys();

/// A value in TOML, a secret as "(secret)". Empty for an empty text, file, list or secret.
std::string toml_text(const KeySpec& spec, const KeyValue& value);

}  // namespace lockstep
