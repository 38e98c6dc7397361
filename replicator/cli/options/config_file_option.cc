#include "replicator/cli/options/config_file_option.h"

#include <sys/stat.h>
#include <unistd.h>

#include <iostream>

#include "replicator/process/terminal.h"

namespace lockstep {
namespace {

constexpr const char* kHere = "./lockstep.toml";
constexpr const char* kOfTheService = "/etc/lockstep/lockstep.toml";

}  // namespace

Option ConfigFileOption::add_to(Options options, const std::string& what) {
  return options
      .option("-c,--config", given_,
              what + "; default: " + kHere + " if it exists, otherwise " + kOfTheService)
      .or_environment("LOCKSTEP_CONFIG")
      .value_name("FILE");
}

std::string ConfigFileOption::file() const {
  if (given_) return *given_;
  struct stat found {};
  if (::stat(kHere, &found) != 0 || ::access(kHere, R_OK) != 0) return kOfTheService;
  if (found.st_uid != 0 && found.st_uid != ::geteuid())
    throw UsageError(std::string(kHere) + " belongs to another user; if it is the right one, name it: -c " +
                     kHere);
  if (shows_progress()) std::cerr << "reading " << kHere << '\n';
  return kHere;
}

}  // namespace lockstep
