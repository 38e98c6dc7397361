// The command line of a program that measures: numbers, and what is wrong with them in words.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

namespace lockstep::benchmarks {

/// Takes whole numbers from `least` on.
CLI::Validator at_least(std::int64_t least);

/// Returns the exit code with which the program has to end at once: 0 after --help, 2 after a wrong option,
/// which is named on standard error. None: it goes on.
std::optional<int> end_after_parsing(CLI::App& app, int argc, char** argv);

}  // namespace lockstep::benchmarks
