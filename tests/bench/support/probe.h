// How long a small change takes: from the commit's return until a GET by id shows it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
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
  /// REQUIRES: `index` outlives it.
  Probe(const support::PostgresDatabase& database, const support::ElasticsearchIndex& index);

  /// Makes the change; returns the milliseconds. Throws std::runtime_error when it does not arrive within a
  /// minute.
  double change(const Change& change);

  /// `samples` changes, the i-th from `make(i)`, one every `period`; their milliseconds.
  std::vector<double> changes(int samples, std::chrono::milliseconds period,
                              const std::function<Change(int)>& make);

 private:
  bool shows(const Change& change);

  std::unique_ptr<pqxx::connection> connection_;
  const support::ElasticsearchIndex& index_;
};

}  // namespace lockstep::benchmarks
