// How long a change takes into the index, faults included: one row that is changed again and again, each time
// until its document shows the change.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <pqxx/pqxx>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/elasticsearch_index.h"
#include "tests/support/postgres_database.h"

namespace lockstep::chaos {

class Probe {
 public:
  /// REQUIRES: `database` outlives it, and the index `alias` follows search.probe (tree.sql).
  Probe(const support::PostgresDatabase& database, std::string alias);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  struct Delays {
    std::size_t samples = 0;
    std::chrono::milliseconds median{0};
    std::chrono::milliseconds longest{0};
  };
  Delays delays() const;

 private:
  void run();
  bool shows(std::int64_t n);
  void sample(pqxx::connection& connection);

  const support::PostgresDatabase& database_;
  const std::string alias_;
  support::ElasticsearchServer elasticsearch_;  // of the thread
  mutable std::mutex mutex_;
  std::vector<std::chrono::milliseconds> delays_;  // guarded by mutex_
  std::atomic<bool> stopping_ = false;
  std::thread thread_;  // last: everything else exists while it runs
};

}  // namespace lockstep::chaos
