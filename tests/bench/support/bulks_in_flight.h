// How many bulk requests Elasticsearch has in work at once, on average, while there are any: asked again and
// again for its tasks, whoever sends the requests.
#pragma once

#include <cstdint>
#include <exception>
#include <stop_token>
#include <thread>

#include "tests/support/elasticsearch_index.h"

namespace lockstep::benchmarks {

class BulksInFlight {
 public:
  /// Asks from now on until average(). REQUIRES: nobody else sends bulk requests.
  BulksInFlight();

  /// The average of the answers with at least one. Throws what a request threw.
  double average();

 private:
  void ask(const std::stop_token& stop);

  std::int64_t bulks_ = 0;
  std::int64_t answers_ = 0;
  std::exception_ptr error_;
  std::jthread asker_;
};

}  // namespace lockstep::benchmarks
