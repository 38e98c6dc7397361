#include "tests/bench/support/server_cpu.h"

#include <stdexcept>

#include "tests/support/resource_use.h"

namespace lockstep::benchmarks {

ServerCpu::ServerCpu(support::PostgresDatabase& database)
    : postmaster_(support::parent_of(static_cast<pid_t>(database.number("select pg_backend_pid()")))) {
  if (postmaster_ == 0)
    throw std::runtime_error("PostgreSQL has to run on this machine: its CPU is measured");
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

double ServerCpu::elasticsearch_total() const {
  double milliseconds = 0;
  const nlohmann::json stats = server_.expect("GET", "/_nodes/stats/process");
  for (const auto& [id, node] : stats.at("nodes").items()) {
    milliseconds += node.at("process").at("cpu").at("total_in_millis").get<double>();
  }
  return milliseconds / 1000;
}

}  // namespace lockstep::benchmarks
