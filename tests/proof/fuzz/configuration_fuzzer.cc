// A configuration file of any content: it loads, or every fault is told with the file's name. Nothing else is
// thrown.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "replicator/config/config_text.h"
#include "replicator/error.h"

namespace {

const std::filesystem::path& file() {
  static const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("lockstep-fuzz-" + std::to_string(getpid()) + ".toml");
  return file;
}

void require_named(const std::string& faults) {
  std::istringstream lines(faults);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(file().string())) continue;
    std::cerr << "a fault without its place: " << line << '\n';
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::ofstream(file(), std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    lockstep::config_text(lockstep::load_config(file()));
  } catch (const lockstep::UsageError& error) {
    require_named(error.what());
  }
  return 0;
}
