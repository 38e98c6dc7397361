// What the operations of the harness change: registers that hold the id of the last operation, each with a
// fence and a revision, and a log of all writes in their order. It stands for the documents of an index.
#pragma once

#include <cstdint>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "replicator/locks/operation.h"

namespace lockstep::harness {

using Register = int;

/// A write, in the order in which they happened.
struct Write {
  std::int64_t number = 0;
  Register at = 0;
  std::string operation;
};

class RegisterStore {
 public:
  struct Stored {
    std::string operation;
    FencingToken fence = 0;
    std::int64_t revision = 0;
  };

  /// Connects to the database with this URL.
  explicit RegisterStore(const std::string& url);

  void create(int registers);

  Stored read(Register at);
  /// Writes if nobody has written since it was read; says whether it did.
  bool write_as_read(Register at, const std::string& operation, FencingToken token, std::int64_t revision);
  /// Writes whatever is there.
  void write_anyhow(Register at, const std::string& operation);

  /// Notes which registers an operation is going to write.
  void announce(const std::string& operation, const std::vector<Register>& registers);

  struct Announced {
    std::string operation;
    std::vector<Register> registers;
  };
  std::vector<Announced> announced();
  std::vector<Write> writes();

 private:
  std::unique_ptr<pqxx::connection> connection_;
};

/// "3 7" and back: how an operation's intent names its registers.
std::string text_of(const std::vector<Register>& registers);
std::vector<Register> registers_of(const std::string& text);

}  // namespace lockstep::harness
