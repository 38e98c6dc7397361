#include "replicator/process/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "replicator/error.h"

namespace lockstep {

void open_standard_files() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest number that is free is this one.
    if (::fcntl(number, F_GETFD) < 0) ::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

std::string read_standard_input(std::size_t limit) {
  std::string contents;
  std::array<char, 65'536> part{};
  while (contents.size() <= limit) {
    const ssize_t bytes = ::read(STDIN_FILENO, part.data(), part.size());
    if (bytes == 0) break;
    if (bytes > 0) contents.append(part.data(), static_cast<std::size_t>(bytes));
    if (bytes < 0 && errno != EINTR) {
      throw Error({"reading standard input", std::error_code(errno, std::generic_category()).message(),
                   "redirect it from a file or a pipe; nothing was changed"});
    }
  }
  return contents;
}

}  // namespace lockstep
