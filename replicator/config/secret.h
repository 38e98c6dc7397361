// Where secrets come from: the configuration itself, a file, or the environment.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "replicator/config/config.h"
#include "replicator/config/text_checks.h"

namespace lockstep {

/// The content of `file` without line breaks at its end, or its fault. The secret knows its file.
std::variant<Secret, TextFault> secret_from_file(const std::filesystem::path& file);

/// The value of an environment variable, or its fault.
std::variant<Secret, TextFault> secret_from_environment(const std::string& name);

/// Refuses a secret that is empty or that could break out of an HTTP header or a connection string. `origin`
/// names its source.
std::variant<Secret, TextFault> checked_secret(std::string value, const std::string& origin);

}  // namespace lockstep
