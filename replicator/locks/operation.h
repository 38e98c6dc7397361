// An operation: one change under locks, from its entry in the journal to its end. The journal is what makes
// the death of a holder harmless: whoever meets a dead one's locks learns from it what was being done.
//
//   open ──► pending ──commit──► running ──finish──► done
//               └──finish, or its lease ran out──► aborted
//
// Before the commit an operation has changed nothing and is aborted when its holder dies. From the commit on
// it is only ever rolled forward, by whoever adopts it (Operation::needs_roll_forward()): an undo that left
// documents untouched would let a late write of the dead holder land.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "replicator/locks/lock_name.h"

namespace lockstep {

/// The clock of the server that keeps the locks: no machine's own clock is ever compared with it. In
/// Elasticsearch it moves in steps of some 200 ms.
using ServerTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// "2026-01-31T12:00:00.250Z"
std::string text_of(ServerTime time);

/// What a lock document or row calls its holder: unique for all time, and it says where the holder runs, so
/// that a refused lock says by whom: "<host>-<process id>-<64 random bits>".
std::string new_operation_id();

/// Orders the writes of successive holders: each data write carries its operation's token and is refused
/// where a greater one is stored already. 0: none yet. One sequence for all operations of a journal; it
/// restarts when the journal is deleted, which nobody must do while somebody holds a lock.
using FencingToken = std::int64_t;

enum class OperationState : std::uint8_t { kPending, kRunning, kDone, kAborted };

/// "pending", "running", "done", "aborted"; as the journal has it.
std::string_view text_of(OperationState state);
/// None for any other text.
std::optional<OperationState> operation_state(std::string_view text);

/// What is going to be done.
struct OperationIntent {
  std::string kind = "lock";  ///< "lock" for a command under a lock; "mv", "rm", "put" for the tree
  std::string from = {};      ///< path; empty where the kind has none
  std::string to = {};
  std::string target = {};  ///< which index is changed, or which command runs; for people and for adopters
  bool operator==(const OperationIntent&) const = default;
};

/// Where a journal entry stands, for compare-and-set: in Elasticsearch sequence number and primary term, in a
/// table the number of its changes and 0.
struct JournalVersion {
  std::int64_t number = 0;
  std::int64_t term = 0;
  bool operator==(const JournalVersion&) const = default;
};

/// A journal entry as it was last read or written. Only a LockManager changes it.
struct Operation {
  std::string id = {};  ///< also the holder's name in the locks
  OperationIntent intent = {};
  LockSet locks = {};  ///< all that it has or wants: they are released by name, without a search
  OperationState state = OperationState::kPending;
  std::string owner = {};       ///< the id of who works on it now: itself, or who has adopted it
  std::int64_t epoch = 1;       ///< 1, and one more for each adoption
  ServerTime lease_until = {};  ///< after that it counts as dead
  FencingToken token = 0;       ///< what the data writes of this owner carry; another one for each owner
  FencingToken commit = 0;      ///< the first owner's token: the order in which operations took effect
  std::string task = {};        ///< a task that runs on in the server when the owner dies ("node:number")
  std::int64_t progress = 0;
  std::string reason = {};  ///< why it was aborted
  JournalVersion version = {};

  bool resolved() const { return state == OperationState::kDone || state == OperationState::kAborted; }
  /// Whether somebody has to finish it when its owner dies after the commit. A command that ran under a lock
  /// cannot be finished by others: it is aborted, and its token keeps its late writes out.
  bool needs_roll_forward() const { return intent.kind != "lock"; }
};

}  // namespace lockstep
