// What the operations of the harness change: registers, each with the id of the last operation, a fence and a
// revision, and a log of all writes in their order. They stand for the documents of an index.
#pragma once

#include <cstdint>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "replicator/locks/operation.h"

namespace lockstep::harness {

using Register = int;

/// An entry of the log.
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
  /// Writes unless the register has changed since it was read. Returns whether it wrote.
  bool write_as_read(Register at, const std::string& operation, FencingToken token, std::int64_t revision);
  /// Writes unconditionally.
  void write_anyhow(Register at, const std::string& operation);

  /// Records which registers an operation is going to write.
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

/// "3 7" and back: an operation's intent names its registers so.
std::string text_of(const std::vector<Register>& registers);
std::vector<Register> registers_of(const std::string& text);

}  // namespace lockstep::harness
