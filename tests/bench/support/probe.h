// How long a small change takes: from the commit's return until a GET by id shows it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/elasticsearch_index.h"
#include "tests/support/postgres_database.h"

namespace lockstep::benchmarks {

struct Change {
  std::string sql;                      ///< one statement, a transaction of its own
  std::string id;                       ///< of the document by which it shows
  std::optional<std::string> expected;  ///< what it then contains; none: it is gone
};

/// For one thread.
class Probe {
 public:
  /// Makes changes by `execute`. REQUIRES: `index` outlives it.
  using Execute = std::function<void(const std::string& sql)>;
  Probe(Execute execute, const support::ElasticsearchIndex& index);
  /// By a connection of its own.
  Probe(const support::PostgresDatabase& database, const support::ElasticsearchIndex& index);

  /// Makes the change; returns the milliseconds. Throws std::runtime_error when it does not arrive within a
  /// minute.
  double change(const Change& change);

  /// `samples` changes, the i-th from `make(i)`, one every `period`; their milliseconds.
  std::vector<double> changes(int samples, std::chrono::milliseconds period,
                              const std::function<Change(int)>& make);

 private:
  bool shows(const Change& change);

  const Execute execute_;
  const support::ElasticsearchIndex& index_;
};

}  // namespace lockstep::benchmarks
