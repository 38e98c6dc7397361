#include "tests/bench/support/server_cpu.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/elasticsearch_index.h"
#include "tests/support/resource_use.h"

namespace lockstep::benchmarks {

ServerCpu::ServerCpu(support::PostgresDatabase& database)
    : postmaster_(support::parent_of(static_cast<pid_t>(database.number("select pg_backend_pid()")))) {
  if (postmaster_ == 0)
    throw std::runtime_error("PostgreSQL has to run on this machine: its CPU is measured");
  const nlohmann::json process = support::ElasticsearchServer().expect("GET", "/_nodes/process").at("nodes");
  if (process.size() != 1) throw std::runtime_error("Elasticsearch has to be one node: its CPU is measured");
  elasticsearch_ = process.front().at("process").at("id").get<pid_t>();
  if (support::cpu_seconds(elasticsearch_) == 0)
    throw std::runtime_error("Elasticsearch has to run on this machine: its CPU is measured");
  restart();
}

void ServerCpu::restart() {
  postgresql_before_ = postgresql_total();
  elasticsearch_before_ = elasticsearch_total();
}

double ServerCpu::postgresql() const {
  return postgresql_total() - postgresql_before_;
}

double ServerCpu::elasticsearch() const {
  return elasticsearch_total() - elasticsearch_before_;
}

double ServerCpu::postgresql_total() const {
  return support::cpu_seconds_with_children(postmaster_);
}

// Elasticsearch itself tells it once a second, which is too seldom for what takes less.
double ServerCpu::elasticsearch_total() const {
  return support::cpu_seconds(elasticsearch_);
}

}  // namespace lockstep::benchmarks
