#include "tests/bench/support/statistics.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace lockstep::benchmarks {

double quantile(std::vector<double> values, double share) {
  if (values.empty()) throw std::runtime_error("nothing was measured");
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

double median(const std::vector<double>& values) {
  return quantile(values, 0.5);
}

}  // namespace lockstep::benchmarks
