#include "tests/support/temporary_folder.h"

#include <fstream>
#include <stdexcept>

#include "tests/support/random_seed.h"

namespace lockstep::support {

TemporaryFolder::TemporaryFolder()
    : path_(std::filesystem::temp_directory_path() / ("lockstep-test-" + random_name())) {
  std::filesystem::create_directory(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::write(const std::string& name, std::string_view content) const {
  const std::filesystem::path file = path_ / name;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << content;
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
  return file;
}

}  // namespace lockstep::support
