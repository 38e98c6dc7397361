// The files, pipes and sockets with which this process was started, as opposed to those that it has opened
// since. A command gets the former, as from flock(1), and none of the latter: a library opens sockets that an
// exec() would pass on, such as libcurl, which has no option for all of them.
#pragma once

#include <vector>

namespace lockstep {

class InheritedDescriptors {
 public:
  /// Takes those that are open now. REQUIRES: the process has opened nothing yet. Throws Error.
  InheritedDescriptors();

  /// Closes all others but `kept`. Throws Error.
  void close_others(const std::vector<int>& kept) const;

 private:
  std::vector<int> descriptors_;
};

}  // namespace lockstep
