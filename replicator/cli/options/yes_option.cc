#include "replicator/cli/options/yes_option.h"

#include <iostream>

#include "replicator/process/terminal.h"

namespace lockstep {

void YesOption::add_to(Options options, WithoutTerminal without, const std::string& what) {
  std::string text = what + (what.empty() ? "Do not ask" : "do not ask");
  switch (without) {
    case WithoutTerminal::kNoQuestion:
      text += "; without a terminal it never asks";
      break;
    case WithoutTerminal::kRefuse:
      text += "; needed without a terminal";
      break;
    case WithoutTerminal::kRefuseDeletion:
      text = "Do not ask; needed without a terminal for " + what;
      break;
  }
  options.flag("-y,--yes", yes_, text);
}

void YesOption::require_answer(const std::string& doing) const {
  if (!yes_ && !can_ask()) throw UsageError(doing + ", and there is no terminal to ask on; give --yes");
}

bool YesOption::asks() const {
  return !yes_ && can_ask();
}

bool YesOption::confirms(const std::string& question) const {
  if (!asks() || ask(question) == Answer::kYes) return true;
  std::cerr << "nothing was changed\n";
  return false;
}

}  // namespace lockstep
