// Errors of which the configuration is the cause, although a server reports them.
#pragma once

namespace lockstep {

/// Mixed into a class of errors: the command ends with the exit code of a wrong configuration. A running
/// service treats the error as any other one of its server.
class WrongConfiguration {
 public:
  virtual ~WrongConfiguration() = default;
};

}  // namespace lockstep
