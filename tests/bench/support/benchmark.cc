#include "tests/bench/support/benchmark.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <optional>
#include <pqxx/pqxx>
#include <thread>

#include "tests/bench/support/command_line.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/servers.h"

namespace lockstep::benchmarks {
namespace {

using Json = nlohmann::ordered_json;

// In GiB.
double memory_of_machine() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  double kilobytes = 0;
  file >> name >> kilobytes;
  return kilobytes / 1048576;
}

double load() {
  std::ifstream file("/proc/loadavg");
  double minute = 0;
  file >> minute;
  return minute;
}

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

Json surroundings() {
  const pqxx::connection connection(support::postgresql_url());
  const int version = connection.server_version();
  return {{"cores", std::thread::hardware_concurrency()},
          {"memory_gib", memory_of_machine()},
          {"load_before", load()},
          {"elasticsearch", support::ElasticsearchServer().version()},
          {"postgresql", std::to_string(version / 10000) + "." + std::to_string(version % 10000)}};
}

// Returns the names of the measures that miss their target.
std::vector<std::string> measure(const Benchmark& benchmark,
                                 const std::map<std::string, std::int64_t>& values, const std::string& file) {
  Json results{
      {"benchmark", benchmark.name}, {"date", today()}, {"on", surroundings()}, {"parameters", values}};
  Report report;
  benchmark.run(Parameters(values), report);
  report.print_summary();
  results["measures"] = report.json();
  if (file.empty()) return report.missed();
  std::ofstream out(file);
  out << results.dump(2) << '\n';
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file);
  return report.missed();
}

}  // namespace

int benchmark(const Benchmark& benchmark, int argc, char** argv) {
  CLI::App app{benchmark.description, "benchmark_" + benchmark.name};
  bool quick = false;
  std::string file;
  std::map<std::string, std::int64_t> given;
  std::map<std::string, CLI::Option*> options;
  app.add_flag("--quick", quick, "the small form: it shows that the benchmark works, and measures nothing");
  bool guard = false;
  app.add_flag("--guard", guard, "fail when a target is missed");
  app.add_option("--json", file, "write the results there");
  for (const Parameter& parameter : benchmark.parameters) {
    options[parameter.name] = app.add_option("--" + parameter.name, given[parameter.name],
                                             parameter.meaning + " (" + std::to_string(parameter.value) + ")")
                                  ->check(at_least(parameter.name == "rounds" ? 1 : 0));
  }
  if (const std::optional<int> code = end_after_parsing(app, argc, argv)) return *code;
  std::map<std::string, std::int64_t> values;
  for (const Parameter& parameter : benchmark.parameters) {
    values[parameter.name] = options[parameter.name]->count() > 0 ? given[parameter.name]
                             : quick                              ? parameter.quick
                                                                  : parameter.value;
  }
  try {
    const std::vector<std::string> missed = measure(benchmark, values, file);
    for (const std::string& name : missed)
      std::cerr << benchmark.name << " misses its target: " << name << '\n';
    if (guard && !missed.empty()) return EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::cerr << "benchmark_" << benchmark.name << ": " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace lockstep::benchmarks
