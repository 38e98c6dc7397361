#include "replicator/config/config.h"

#include "replicator/config/config_reader.h"
#include "replicator/config/config_rules.h"
#include "replicator/config/faults.h"

namespace lockstep {

Config load_config(const std::filesystem::path& file) {
  Faults faults(file);
  ReadConfig read = read_config(file, faults);
  complete_config(read.config, read.lines, faults);
  faults.throw_if_any();
  return std::move(read.config);
}

}  // namespace lockstep
