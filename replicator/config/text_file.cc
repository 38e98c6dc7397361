#include "replicator/config/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace lockstep {
namespace {

TextFault unreadable(const std::filesystem::path& file, int number) {
  const std::error_code error(number, std::generic_category());
  const std::string what = file.string() + " cannot be read: " + error.message();
  if (error == std::errc::permission_denied) {
    return {what, "let user " + std::to_string(::geteuid()) + " read it and enter its folders"};
  }
  if (error == std::errc::no_such_file_or_directory) {
    return {what, std::string("check the path") +
                      (file.is_relative() ? "; a relative path starts at the working folder" : "")};
  }
  return {what, "check the path"};
}

std::variant<std::string, TextFault> read_descriptor(int descriptor, const std::filesystem::path& file,
                                                     Pipes pipes, std::size_t max_bytes) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return unreadable(file, errno);
  if (S_ISDIR(facts.st_mode)) return TextFault{file.string() + " is a folder", "name the file in it"};
  if (pipes == Pipes::kRefused && !S_ISREG(facts.st_mode))
    return TextFault{file.string() + " is no regular file", "write its text into one"};
  std::string content;
  std::array<char, 65'536> part{};
  while (true) {
    const ssize_t bytes = ::read(descriptor, part.data(), part.size());
    if (bytes == 0) return content;
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return unreadable(file, errno);
    content.append(part.data(), static_cast<std::size_t>(bytes));
    if (content.size() > max_bytes)
      return TextFault{file.string() + " is larger than " + std::to_string(max_bytes >> 20) + " MiB",
                       "name the right file"};
  }
}

}  // namespace

std::variant<std::string, TextFault> read_text_file(const std::filesystem::path& file, Pipes pipes,
                                                    std::size_t max_bytes) {
  // To open a pipe without a writer waits for one, unless asked not to.
  const int patience = pipes == Pipes::kRead ? 0 : O_NONBLOCK;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | patience);
  if (descriptor < 0) return unreadable(file, errno);
  auto content = read_descriptor(descriptor, file, pipes, max_bytes);
  ::close(descriptor);
  return content;
}

}  // namespace lockstep
