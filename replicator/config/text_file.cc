#include "replicator/config/text_file.h"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

namespace lockstep {
namespace {

constexpr std::uintmax_t kMaxBytes = 16U << 20;

TextFault unreadable(const std::filesystem::path& file, std::error_code error) {
  const std::string what = file.string() + " cannot be read: " + error.message();
  if (error == std::errc::permission_denied) {
    return {what, "let user " + std::to_string(::geteuid()) + " read it and enter its folders"};
  }
  if (error == std::errc::no_such_file_or_directory) {
    return {what, "check the path; a relative path starts at the folder of the configuration file"};
  }
  return {what, "check the path"};
}

}  // namespace

std::variant<std::string, TextFault> read_text_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::none ||
      status.type() == std::filesystem::file_type::not_found) {
    if (!error) error = std::make_error_code(std::errc::no_such_file_or_directory);
    return unreadable(file, error);
  }
  if (status.type() == std::filesystem::file_type::directory) {
    return TextFault{file.string() + " is a folder", "name the file in it"};
  }
  if (status.type() == std::filesystem::file_type::regular &&
      std::filesystem::file_size(file, error) > kMaxBytes) {
    return TextFault{file.string() + " is larger than 16 MiB", "name the right file"};
  }
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) return unreadable(file, std::error_code(errno, std::generic_category()));
  std::string content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) return unreadable(file, std::error_code(errno, std::generic_category()));
  return content;
}

}  // namespace lockstep
