// Reads the small files that a configuration names.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "replicator/config/text_checks.h"

namespace lockstep {

/// The content of a file of at most 16 MiB, or why it cannot be read and what to do.
std::variant<std::string, TextFault> read_text_file(const std::filesystem::path& file);

}  // namespace lockstep
