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
  // At once: a program that reads the file meanwhile has the old one or the new one.
  const std::filesystem::path written = file.string() + ".new";
  std::ofstream out(written, std::ios::binary | std::ios::trunc);
  out << content;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + written.string());
  std::filesystem::rename(written, file);
  return file;
}

}  // namespace lockstep::support
