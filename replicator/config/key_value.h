// Checks one value of the file against its key. Only this and config_reader know TOML.
#pragma once

#include <toml++/toml.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

#include "replicator/config/config_keys.h"

namespace lockstep {

/// The value, or its fault. Relative files are resolved against `folder`.
std::variant<KeyValue, TextFault> key_value(const KeySpec& spec, const toml::node& node,
                                            const std::filesystem::path& folder);

/// The range of a number, a duration or a size: "64KiB to 90MiB".
std::string range_text(const KeySpec& spec);

/// A way to give a secret.
struct SecretForm {
  enum class Kind { kValue, kFile, kEnvironment };
  Kind kind;
  std::string key;  ///< "password", "password_file" or "password_env"
};

/// The three keys that can give a secret.
std::array<SecretForm, 3> secret_forms(std::string_view name);

/// The secret to which the value of such a key leads, or its fault. `config_file` has the key; relative files
/// are resolved against its folder.
std::variant<Secret, TextFault> secret_value(const SecretForm& form, const toml::node& node,
                                             const std::filesystem::path& config_file);

}  // namespace lockstep
