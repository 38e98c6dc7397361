// The table at the end of a run.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "tests/proof/chaos/checker.h"
#include "tests/proof/chaos/probe.h"

namespace lockstep::chaos {

struct Report {
  std::int64_t committed = 0;
  std::int64_t failed = 0;
  std::map<std::string, int> faults;
  std::map<std::string, int> reindexing;  ///< commands, and what came of them
  std::int64_t searches = 0;
  std::int64_t leaderships = 0;
  std::int64_t operations = 0;
  std::int64_t superseded = 0;
  std::int64_t repeated = 0;
  Probe::Delays delays;
  Findings findings;
  std::vector<std::string> misconduct;
};

/// The table, and below it what was found.
void print(std::ostream& out, const Report& report);

}  // namespace lockstep::chaos
