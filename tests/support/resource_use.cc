#include "tests/support/resource_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "tests/support/eventually.h"
#include "tests/support/program.h"

namespace lockstep::support {
namespace {

// What /proc/PID/stat says, in the order of proc(5); times in clock ticks.
struct Stat {
  pid_t parent = 0;
  double own = 0;
  double ended_children = 0;
};

std::optional<Stat> read_stat(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The second field is the name in parentheses, with whatever it has in it.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  Stat stat;
  fields >> skipped >> stat.parent;
  for (int field = 5; field < 14; ++field) fields >> skipped;
  double user = 0;
  double system = 0;
  double children_user = 0;
  double children_system = 0;
  fields >> user >> system >> children_user >> children_system;
  stat.own = user + system;
  stat.ended_children = children_user + children_system;
  return stat;
}

double seconds(double ticks) {
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double cpu_ticks_of_children(pid_t pid) {
  double ticks = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t child = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), child).ec != std::errc()) continue;
    const std::optional<Stat> stat = read_stat(child);
    if (stat && stat->parent == pid) ticks += stat->own;
  }
  return ticks;
}

// CPU seconds of the child processes that have ended.
double cpu_of_ended_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

}  // namespace

double cpu_seconds(pid_t pid) {
  const std::optional<Stat> stat = read_stat(pid);
  return stat ? seconds(stat->own) : 0;
}

// A child that ends while the list is read would be in neither sum, or in both: then it is read again.
double cpu_seconds_with_children(pid_t pid) {
  std::optional<Stat> server = read_stat(pid);
  while (server) {
    const double ticks = server->own + server->ended_children + cpu_ticks_of_children(pid);
    const double ended_before = server->ended_children;
    server = read_stat(pid);
    if (server && server->ended_children == ended_before) return seconds(ticks);
  }
  return 0;
}

double peak_memory(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

pid_t parent_of(pid_t pid) {
  const std::optional<Stat> stat = read_stat(pid);
  return stat ? stat->parent : 0;
}

MeasuredRun measured_run(const PipelineUnderTest& pipeline, const std::string& verb,
                         const std::vector<std::string>& arguments, std::chrono::milliseconds deadline) {
  std::vector<std::string> all{verb, "-c", pipeline.configuration().string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  MeasuredRun run;
  const double cpu = cpu_of_ended_children();
  const auto begin = std::chrono::steady_clock::now();
  Program program(lockstep_program(), all);
  const bool ended = wait_until(
      [&] {
        // The last answer counts: before it becomes lockstep the new process is a copy of this one.
        if (const double memory = peak_memory(program.pid()); memory > 0) run.peak_memory = memory;
        return !program.running();
      },
      deadline, std::chrono::milliseconds(5));
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::optional<int> exit_code = program.wait(std::chrono::milliseconds(0));
  run.out = program.out();
  if (!ended || exit_code != 0) {
    throw std::runtime_error("lockstep " + verb + " ended with " +
                             (exit_code ? std::to_string(*exit_code) : "nothing, in time") + ":\n" + run.out +
                             program.err());
  }
  run.cpu_seconds = cpu_of_ended_children() - cpu;
  return run;
}

}  // namespace lockstep::support
