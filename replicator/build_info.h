// The program's build, for `lockstep --version`.
#pragma once

#include <string>

namespace lockstep {

struct BuildInfo {
  std::string commit;     ///< abbreviated, with "-dirty" if files differed from it; empty: not known
  std::string libraries;  ///< those whose version was fixed then: "fmt 9.1.0, spdlog 1.10.0"
};

}  // namespace lockstep
