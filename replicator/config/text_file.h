// Reads the small files that a configuration names.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <variant>

#include "replicator/config/text_checks.h"

namespace lockstep {

/// The files that are read besides regular ones.
enum class Pipes {
  kRefused,  ///< nothing: a repeated reader never waits for a writer
  kRead,     ///< pipes and devices, until their end: `-c /dev/stdin`
};

inline constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20;

/// The content of a file of at most `max_bytes`, or why it cannot be read, and the remedy.
std::variant<std::string, TextFault> read_text_file(const std::filesystem::path& file,
                                                    Pipes pipes = Pipes::kRefused,
                                                    std::size_t max_bytes = kMaxTextBytes);

}  // namespace lockstep
