// A set of locks as a test writes it: "S/ S/clinton X/clinton/projects".
#pragma once

#include <string>

#include "replicator/locks/lock_name.h"

namespace lockstep {

inline std::string text_of(const LockSet& set) {
  std::string text;
  for (const LockRequest& request : set) {
    text += (text.empty() ? "" : " ") + std::string(request.mode == LockMode::kShared ? "S" : "X") +
            request.name.text();
  }
  return text;
}

}  // namespace lockstep
