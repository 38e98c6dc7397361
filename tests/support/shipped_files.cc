#include "tests/support/shipped_files.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace lockstep::support {

std::string shipped_file(const std::string& path) {
  const std::ifstream file(LOCKSTEP_SOURCE_DIR "/" + path);
  if (!file) throw std::runtime_error(path + " is not there");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string shipped_tracks(const std::string& configuration) {
  const std::string toml = shipped_file(configuration);
  return toml.substr(toml.find("[[index.track]]"));
}

}  // namespace lockstep::support
