// What a benchmark has measured: printed while it runs, summed up at its end, and kept as JSON from which
// the pages of docs/ get their tables and charts (tests/bench/record.py).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::benchmarks {

class Report {
 public:
  enum class Bound { kAtLeast, kAtMost };

  /// One value more of a measure, e.g. of one round. A measure's unit stays the same.
  void add(const std::string& measure, const std::string& unit, double value);

  /// Median, p95, p99 and the largest of `values`, each a measure of its own.
  void add_distribution(const std::string& measure, const std::string& unit,
                        const std::vector<double>& values);

  /// What the median of a measure should be.
  void target(const std::string& measure, Bound bound, double value);

  /// Lockstep has no part in this measure: it tells how steady the machine was (tests/bench/compare.py). Of a
  /// distribution, all of its measures.
  void control(const std::string& measure);

  /// The median of what was added until now. Throws std::runtime_error when nothing was.
  double median_of(const std::string& measure) const;

  /// The names of the measures that miss their target.
  std::vector<std::string> missed() const;

  /// A table of all measures on standard output.
  void print_summary() const;

  /// An array, one object a measure, in the order in which they were first added.
  nlohmann::ordered_json json() const;

 private:
  struct Target {
    Bound bound;
    double value;
  };
  struct Measure {
    std::string name;
    std::string unit;
    std::vector<double> values;
    std::optional<Target> target;
    bool control = false;
  };

  static bool misses(const Measure& measure);
  Measure* find(const std::string& name);

  std::vector<Measure> measures_;
};

}  // namespace lockstep::benchmarks
