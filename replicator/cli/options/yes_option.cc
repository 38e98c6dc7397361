#include "replicator/cli/options/yes_option.h"

#include "replicator/process/terminal.h"

namespace lockstep {

void YesOption::add_to(Options options, WithoutTerminal without, const std::string& what) {
  options.flag("-y,--yes", yes_,
               what + (what.empty() ? "Do" : "do") +
                   (without == WithoutTerminal::kNoQuestion ? " not ask; without a terminal it never asks"
                                                            : " not ask; needed without a terminal"));
}

void YesOption::require_answer(const std::string& doing) const {
  if (!yes_ && !can_ask()) throw UsageError(doing + ", and there is no terminal to ask on; give --yes");
}

bool YesOption::asks() const {
  return !yes_ && can_ask();
}

bool YesOption::confirms(const std::string& question) const {
  return !asks() || ask(question) == Answer::kYes;
}

}  // namespace lockstep
