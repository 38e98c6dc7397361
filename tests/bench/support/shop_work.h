// Orders as nested documents of few, popular rows: each price change leads to a twentieth of all orders, each
// customer's name to a fiftieth. The same shop over PostgreSQL and over a SQLite file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/probe.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/postgres_database.h"
#include "tests/support/sqlite_application.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::benchmarks {

struct ShopSize {
  std::int64_t orders = 20'000;  ///< each with three lines
  std::int64_t products = 60;
  std::int64_t customers = 50;
};

class ShopWork {
 public:
  enum class Store { kPostgres, kSqlite };
  using Execute = std::function<void(const std::string& sql)>;

  /// Makes the shop; installs nothing of lockstep.
  ShopWork(Store store, const ShopSize& size);

  static const std::string& mapping();

  support::PipelineUnderTest& pipeline() { return *pipeline_; }
  support::ElasticsearchIndex& orders() { return *orders_; }
  const ShopSize& size() const { return size_; }

  /// Another session of the application, for one thread.
  Execute connect() const;

  struct PopularChange {
    std::string sql;             ///< one statement, a transaction of its own
    std::int64_t documents = 0;  ///< that it makes due, in both indices
  };

  /// A change of a random product or customer, as often the one as the other.
  PopularChange popular_change(std::mt19937_64& random) const;

  /// A change of an order that no popular row shows, another one for each number.
  Change quiet_change(std::int64_t number) const;

  /// A change of the note of an order whose product and customer are popular.
  Change hot_change(std::int64_t number) const;

  /// The orders as a bulk request takes them.
  std::vector<ReadyDocument> ready_documents();

 private:
  std::int64_t number(const std::string& query);

  const Store store_;
  const ShopSize size_;
  std::string prefix_;                                   // of the tables' names
  std::unique_ptr<support::PostgresDatabase> postgres_;  // one of the two is there
  std::unique_ptr<support::TemporaryFolder> folder_;
  std::unique_ptr<support::SqliteApplication> sqlite_;
  std::unique_ptr<support::PipelineUnderTest> pipeline_;
  support::ElasticsearchIndex* orders_ = nullptr;
  std::vector<std::int64_t> orders_of_product_;   // by id
  std::vector<std::int64_t> orders_of_customer_;  // likewise
};

}  // namespace lockstep::benchmarks
