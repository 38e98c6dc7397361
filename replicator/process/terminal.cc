#include "replicator/process/terminal.h"

#include <unistd.h>

#include <iostream>

namespace lockstep {

bool shows_progress() {
  return ::isatty(STDERR_FILENO) != 0;
}

bool redraws() {
  return ::isatty(STDOUT_FILENO) != 0;
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
