// An operation: one change under locks, from its journal entry to its end. The journal makes the death of a
// holder harmless: a process that meets a dead holder's locks reads its intention there.
//
//   open ──► pending ──commit──► running ──finish──► done
//               └──finish, or its lease expired──► aborted
//
// Before the commit an operation has changed nothing: when its holder dies it is aborted. After the commit
// its adopter only rolls it forward (Operation::needs_roll_forward()): an undo would leave documents
// untouched that it had not reached, and a late write of the dead holder could still land there.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/locks/lock_name.h"

namespace lockstep {

/// The clock of the server that keeps the locks. It is never compared with a machine's own clock. In
/// Elasticsearch it moves in steps of some 200 ms.
using ServerTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// "2026-01-31T12:00:00.250Z"
std::string text_of(ServerTime time);

/// A new name for a holder, unique for all time. It shows where the holder runs, for messages about refused
/// locks: "<host>-<process id>-<64 random bits>".
std::string new_operation_id();

/// Orders the writes of successive holders: each data write carries its operation's token, and fails if a
/// greater token is stored. 0: none yet. All operations of a journal share one sequence. A token is greater
/// than all before it, and at least the server's time in milliseconds: so tokens keep growing when a journal
/// is deleted or restored, and when the locks move to another server.
using FencingToken = std::int64_t;

/// No token is greater: every language's JSON reads whole numbers up to here.
inline constexpr FencingToken kMaxToken = FencingToken{1} << 53;

/// The greatest number above which a token is drawn on demand. All later tokens are greater, too, so one
/// above a number near kMaxToken would leave no room for all others.
inline constexpr FencingToken kMostExceeded = kMaxToken / 4;

enum class OperationState : std::uint8_t { kPending, kRunning, kDone, kAborted };

/// "pending", "running", "done", "aborted": the text in the journal.
std::string_view text_of(OperationState state);
/// None for any other text.
std::optional<OperationState> operation_state(std::string_view text);

/// The kind of a command that runs under a lock. Only its owner can finish it.
inline constexpr const char* kLockKind = "lock";

/// An operation's intention, in the words of the journal. Kinds other than kLockKind belong to the code that
/// can roll them forward ("mv", "rm" and "put": tree_intent.h).
struct OperationIntent {
  std::string kind = kLockKind;
  std::string from = {};  ///< path; empty if the kind has none
  std::string to = {};
  std::string target = {};  ///< the index to change, or the command to run; for people and for adopters
  /// Operations whose command this one is a part of: their locks do not keep it out. Not in the journal.
  std::vector<std::string> under = {};
  bool operator==(const OperationIntent&) const = default;
};

/// The version of a journal entry, for compare-and-set. In Elasticsearch: sequence number and primary term;
/// in a table: the number of changes, and 0.
struct JournalVersion {
  std::int64_t number = 0;
  std::int64_t term = 0;
  bool operator==(const JournalVersion&) const = default;
};

/// A journal entry as it was last read or written. Only a LockManager changes it, but for `task` and
/// `progress`.
struct Operation {
  std::string id = {};  ///< also the holder's name in its locks
  OperationIntent intent = {};
  LockSet locks = {};  ///< all that it holds or wants, so that release() needs no search
  OperationState state = OperationState::kPending;
  std::string owner = {};       ///< its present worker: its own id, or its adopter's
  std::int64_t epoch = 1;       ///< 1, and one more for each adoption
  ServerTime lease_until = {};  ///< after that the owner counts as dead
  FencingToken token = 0;       ///< of this owner's data writes; each owner has another
  /// Orders operations by when they took effect. In Elasticsearch the sequence number of the commit, in
  /// PostgreSQL the first owner's token.
  std::int64_t commit = 0;
  std::string task = {};  ///< a server task that outlives the owner ("node:number")
  std::int64_t progress = 0;
  std::string reason = {};  ///< why it was aborted, or its finisher
  JournalVersion version = {};

  bool resolved() const { return state == OperationState::kDone || state == OperationState::kAborted; }
  /// Whether another process must finish it if its owner dies after the commit. A command under a lock cannot
  /// be finished for it: it is aborted, and its token keeps its late writes out.
  bool needs_roll_forward() const { return intent.kind != kLockKind; }
};

}  // namespace lockstep
