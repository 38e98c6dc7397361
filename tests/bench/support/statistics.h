// What is said of several measured values.
#pragma once

#include <vector>

namespace lockstep::benchmarks {

/// The value below which a share of all lies: 0.5 is the median. REQUIRES: not empty.
double quantile(std::vector<double> values, double share);

double median(const std::vector<double>& values);

}  // namespace lockstep::benchmarks
