#include "replicator/config/config.h"

#include "replicator/config/config_reader.h"
#include "replicator/config/config_rules.h"
#include "replicator/config/faults.h"
#include "replicator/config/lock_mode_config.h"

namespace lockstep {
namespace {

Config load(const std::filesystem::path& file, ConfigUse use) {
  Faults faults(file);
  ReadConfig read = read_config(file, faults);
  complete_config(read.config, read.lines, use, faults);
  faults.throw_if_any();
  return std::move(read.config);
}

}  // namespace

Config load_config(const std::filesystem::path& file) {
  return load(file, ConfigUse::kAny);
}

Config load_lock_mode_config(const std::filesystem::path& file) {
  return load(file, ConfigUse::kLockMode);
}

}  // namespace lockstep
