#include "replicator/process/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace lockstep {

bool shows_progress() {
  return ::isatty(STDERR_FILENO) != 0;
}

bool redraws() {
  const char* const kind = std::getenv("TERM");
  const std::string_view name = kind == nullptr ? "" : kind;
  return ::isatty(STDOUT_FILENO) != 0 && !name.empty() && name != "dumb";
}

bool shows_colours() {
  const char* const refused = std::getenv("NO_COLOR");
  return redraws() && (refused == nullptr || *refused == '\0');
}

bool can_ask() {
  return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
}

Answer ask(const std::string& question) {
  std::cout.flush();
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes" ? Answer::kYes : Answer::kNo;
}

}  // namespace lockstep
