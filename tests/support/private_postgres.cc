#include "tests/support/private_postgres.h"

#include <filesystem>
#include <stdexcept>

#include "tests/support/program.h"

namespace lockstep::support {

PrivatePostgres::PrivatePostgres(const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) settings_.insert(settings_.end(), {"-c", setting});
  url_ = control("start", settings_);
  while (url_.ends_with('\n')) url_.pop_back();
}

PrivatePostgres::~PrivatePostgres() {
  try {
    control("stop", {"--immediate"});
  } catch (const std::exception&) {
    // It may have ended already; the folder goes with it.
  }
}

void PrivatePostgres::crash() {
  std::vector<std::string> arguments{"--immediate"};
  arguments.insert(arguments.end(), settings_.begin(), settings_.end());
  control("restart", arguments);
}

std::string PrivatePostgres::control(const std::string& verb, const std::vector<std::string>& arguments) {
  // Servers don't run as root; the script gives the folder to the user that they run as.
  std::vector<std::string> all{verb, "--data", (folder_.path() / "postgresql").string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Completed script = run_program(LOCKSTEP_SOURCE_DIR "/scripts/postgresql", all);
  if (script.exit_code != 0) throw std::runtime_error("scripts/postgresql " + verb + ": " + script.err);
  return script.out;
}

}  // namespace lockstep::support
