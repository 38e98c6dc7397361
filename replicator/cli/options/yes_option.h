// -y, --yes: for commands that ask before a change or a deletion.
#pragma once

#include <string>

#include "replicator/cli/options/options.h"

namespace lockstep {

class YesOption {
 public:
  enum class WithoutTerminal {
    kNoQuestion,      ///< the answer is yes
    kRefuse,          ///< for deletions: --yes is needed
    kRefuseDeletion,  ///< --yes is needed with the option that deletes, and otherwise the answer is yes
  };

  /// `what` is the part of the command that it is for: "With --finish: "; empty: all of it. With
  /// kRefuseDeletion it is the option that deletes.
  void add_to(Options options, WithoutTerminal without, const std::string& what = "");

  /// Throws UsageError if the command needs an answer, and there is neither --yes nor a terminal to ask on.
  /// `doing` is its step after the question: "remove drops the triggers".
  void require_answer(const std::string& doing) const;

  /// Whether confirms() will ask: there is a terminal, and no --yes.
  bool asks() const;

  /// Asks if asks(). Without a question the answer is yes.
  bool confirms(const std::string& question) const;

 private:
  bool yes_ = false;
};

}  // namespace lockstep
