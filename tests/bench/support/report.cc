#include "tests/bench/support/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "tests/bench/support/statistics.h"

namespace lockstep::benchmarks {
namespace {

// Four significant digits are more than any of this is worth.
std::string text(double value) {
  char digits[32];
  const int decimals = std::abs(value) >= 1000 ? 0 : std::abs(value) >= 10 ? 1 : 3;
  std::snprintf(digits, sizeof digits, "%.*f", decimals, value);
  return digits;
}

double low(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

double high(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

}  // namespace

Report::Measure* Report::find(const std::string& name) {
  const auto found = std::find_if(measures_.begin(), measures_.end(),
                                  [&](const Measure& measure) { return measure.name == name; });
  return found == measures_.end() ? nullptr : &*found;
}

void Report::add(const std::string& measure, const std::string& unit, double value) {
  Measure* known = find(measure);
  if (known == nullptr) known = &measures_.emplace_back(Measure{measure, unit, {}, {}, false});
  known->values.push_back(value);
  std::printf("  %-60s %10s %s\n", measure.c_str(), text(value).c_str(), unit.c_str());
  std::fflush(stdout);
}

void Report::add_distribution(const std::string& measure, const std::string& unit,
                              const std::vector<double>& values) {
  add(measure + ", p50", unit, quantile(values, 0.5));
  add(measure + ", p95", unit, quantile(values, 0.95));
  add(measure + ", p99", unit, quantile(values, 0.99));
  add(measure + ", largest", unit, quantile(values, 1));
}

void Report::target(const std::string& measure, Bound bound, double value) {
  Measure* known = find(measure);
  if (known == nullptr) throw std::runtime_error("a target for what was not measured: " + measure);
  known->target = Target{bound, value};
}

void Report::control(const std::string& measure) {
  bool known = false;
  for (Measure& each : measures_) {
    if (each.name != measure && !each.name.starts_with(measure + ", ")) continue;
    each.control = true;
    known = true;
  }
  if (!known) throw std::runtime_error("a control that was not measured: " + measure);
}

double Report::median_of(const std::string& measure) const {
  for (const Measure& known : measures_) {
    if (known.name == measure) return median(known.values);
  }
  throw std::runtime_error("not measured: " + measure);
}

bool Report::misses(const Measure& measure) {
  if (!measure.target) return false;
  const double middle = median(measure.values);
  return measure.target->bound == Bound::kAtLeast ? middle < measure.target->value
                                                  : middle > measure.target->value;
}

std::vector<std::string> Report::missed() const {
  std::vector<std::string> names;
  for (const Measure& measure : measures_) {
    if (misses(measure)) names.push_back(measure.name);
  }
  return names;
}

void Report::print_summary() const {
  std::printf("\n  %-60s %10s %21s  %s\n", "", "median", "range", "target");
  for (const Measure& measure : measures_) {
    const double middle = median(measure.values);
    std::string verdict;
    if (measure.target) {
      verdict = (measure.target->bound == Bound::kAtLeast ? "at least " : "at most ") +
                text(measure.target->value) + (misses(measure) ? ": missed" : ": met");
    }
    std::printf("  %-60s %10s %10s…%-10s  %s %s\n", measure.name.c_str(), text(middle).c_str(),
                text(low(measure.values)).c_str(), text(high(measure.values)).c_str(), measure.unit.c_str(),
                verdict.c_str());
  }
}

nlohmann::ordered_json Report::json() const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Measure& measure : measures_) {
    nlohmann::ordered_json one{{"name", measure.name}, {"unit", measure.unit}, {"values", measure.values}};
    if (measure.target) {
      one["target"] = {{"bound", measure.target->bound == Bound::kAtLeast ? "at least" : "at most"},
                       {"value", measure.target->value}};
    }
    if (measure.control) one["control"] = true;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace lockstep::benchmarks
