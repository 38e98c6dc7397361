// The frame of every benchmark: its command line, its report, its results as a file.
//
//   int main(int argc, char** argv) {
//     return lockstep::benchmarks::benchmark(
//         {"verify", "how long comparing takes", {{"documents", 1'000'000, 5'000, "rows of the view"}}, run},
//         argc, argv);
//   }
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/support/report.h"

namespace lockstep::benchmarks {

/// A number that --NAME sets.
struct Parameter {
  std::string name;
  std::int64_t value = 0;  ///< by default
  std::int64_t quick = 0;  ///< with --quick
  std::string meaning;
};

class Parameters {
 public:
  explicit Parameters(std::map<std::string, std::int64_t> values) : values_(std::move(values)) {}

  /// Throws std::out_of_range when there is no such parameter.
  std::int64_t operator[](const std::string& name) const { return values_.at(name); }

  const std::map<std::string, std::int64_t>& all() const { return values_; }

 private:
  std::map<std::string, std::int64_t> values_;
};

struct Benchmark {
  std::string name;
  std::string description;
  std::vector<Parameter> parameters;
  void (*run)(const Parameters& parameters, Report& report) = nullptr;
};

/// What main() returns. --json FILE writes the results there.
int benchmark(const Benchmark& benchmark, int argc, char** argv);

}  // namespace lockstep::benchmarks
