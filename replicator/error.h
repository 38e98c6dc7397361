// Errors for "this step cannot continue". They have the step, its object, the cause, the remedy, and whether
// trying again makes sense. An expected result (the outcome of one document, a refused lock) is a value, not
// an exception.
//
// Foreign errors (SQLSTATE, HTTP status, curl codes) become these in one place for each library, by their
// codes, never by their text. The service's loop and main catch them.
#pragma once

#include <stdexcept>
#include <string>

namespace lockstep {

enum class Retry {
  kNever,  ///< the step fails again until the operator acts
  kLater,  ///< a server is away, overloaded or restarting: the step may work later
};

/// The server that a step waits for before it is tried again.
enum class Server {
  kNone,  ///< none, or it is not known which
  kSource,
  kElasticsearch,
};

/// A step that cannot continue. what() is the whole message in one line: "<doing>: <cause>; <remedy>".
class Error : public std::runtime_error {
 public:
  struct Parts {
    std::string doing;        ///< "creating index blogposts-000001"
    std::string cause;        ///< the text of the library or server
    std::string remedy = {};  ///< the reader's remedy; may be empty
    Retry retry = Retry::kNever;
    Server server = Server::kNone;
  };

  explicit Error(Parts parts);

  const Parts& parts() const { return parts_; }
  bool retryable() const { return parts_.retry == Retry::kLater; }

 private:
  Parts parts_;
};

/// The user's configuration or command line is wrong: exit code 2. The message has a line for each fault.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Values stored by another version of Lockstep cannot be used by this one, until one of them is upgraded. A
/// service waits for that; elsewhere it is a UsageError.
class OtherVersion : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The definition followed by this process has changed: it has to be read again. No trouble.
class PipelineChanged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// This process no longer leads its pipeline (a greater epoch exists): it must stop writing and stand by.
class Deposed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lockstep
