#include "tests/bench/support/pgbench.h"

#include <csignal>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/statistics.h"

namespace lockstep::benchmarks {
namespace {

constexpr int kEndless = 86'400;  // seconds

std::vector<std::string> arguments(const support::PostgresDatabase& database, const std::string& script,
                                   const PgbenchLoad& load) {
  std::vector<std::string> all{"--no-vacuum", "--protocol=prepared", "--progress=1", "--file=" + script,
                               "--client=" + std::to_string(load.clients)};
  if (load.transactions > 0) {
    all.push_back("--transactions=" + std::to_string(load.transactions / load.clients));
  } else {
    all.push_back("--time=" + std::to_string(kEndless));
  }
  if (load.per_second > 0) all.push_back("--rate=" + std::to_string(load.per_second));
  all.push_back(database.url());
  return all;
}

// The number behind `key` in `text`, from `position` on.
double number_behind(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) throw std::runtime_error("pgbench: no \"" + key + "\" in\n" + text);
  return std::stod(text.substr(at + key.size()));
}

}  // namespace

Pgbench::Pgbench(const support::PostgresDatabase& database, const std::string& script,
                 const PgbenchLoad& load)
    : program_("pgbench", arguments(database, folder_.write("script.sql", script).string(), load),
               {{"PGPASSWORD", database.password()}}) {}

double Pgbench::finish() {
  if (program_.wait(kPatienceForWork) != 0) throw std::runtime_error("pgbench: " + program_.err());
  return number_behind(program_.out(), "tps = ");
}

double Pgbench::stop() {
  if (!program_.running()) throw std::runtime_error("pgbench ended: " + program_.err());
  program_.kill();
  // progress: 5.0 s, 1234.5 tps, lat …
  std::vector<double> rates;
  std::istringstream lines(program_.err());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("progress: ")) rates.push_back(number_behind(line, " s, "));
  }
  return rates.empty() ? 0 : median(rates);
}

}  // namespace lockstep::benchmarks
