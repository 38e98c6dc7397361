#include "tests/bench/support/command_line.h"

#include <charconv>
#include <string>

namespace lockstep::benchmarks {

CLI::Validator at_least(std::int64_t least) {
  CLI::Validator validator;
  validator.operation([least](std::string& text) -> std::string {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && parsed == end && number >= least) return {};
    return "\"" + text + "\" is not a whole number from " + std::to_string(least) + " on";
  });
  return validator;
}

std::optional<int> end_after_parsing(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    constexpr int kWrongUsage = 2;
    return app.exit(error) == 0 ? 0 : kWrongUsage;
  }
}

}  // namespace lockstep::benchmarks
