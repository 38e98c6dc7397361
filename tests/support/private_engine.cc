#include "tests/support/private_engine.h"

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "tests/support/program.h"

namespace lockstep::support {
namespace {

constexpr std::chrono::minutes kPatienceForEngine{4};

}  // namespace

PrivateEngine::PrivateEngine(std::string name, std::filesystem::path folder, std::vector<std::string> options)
    : name_(std::move(name)), folder_(std::move(folder)), options_(std::move(options)), url_(start()) {}

PrivateEngine::~PrivateEngine() {
  try {
    control("stop", {"--kill"});
  } catch (const std::exception&) {
    // It may have ended already.
  }
}

void PrivateEngine::crash() {
  control("stop", {"--kill"});
  const std::string url = start();
  if (url != url_) throw std::runtime_error("the engine has moved from " + url_ + " to " + url);
}

void PrivateEngine::freeze() {
  kill(std::stoi(control("pid", {})), SIGSTOP);
}
void PrivateEngine::thaw() {
  kill(std::stoi(control("pid", {})), SIGCONT);
}

std::string PrivateEngine::start() {
  std::vector<std::string> arguments{name_, "--short-lived"};
  arguments.insert(arguments.end(), options_.begin(), options_.end());
  return control("start", arguments);
}

std::string PrivateEngine::control(const std::string& verb, const std::vector<std::string>& arguments) {
  std::vector<std::string> all{verb};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.insert(all.end(), {"--data", folder_.string()});
  Completed script = run_program(LOCKSTEP_SOURCE_DIR "/scripts/engine", all, {}, kPatienceForEngine);
  if (script.exit_code != 0) throw std::runtime_error("scripts/engine " + verb + ": " + script.err);
  while (script.out.ends_with('\n')) script.out.pop_back();
  return script.out;
}

}  // namespace lockstep::support
