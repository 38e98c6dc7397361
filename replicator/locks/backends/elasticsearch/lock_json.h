// Locks and journal entries as documents of Elasticsearch: the book's fields (lock_type, lock_count,
// process_id), and the holders next to them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "replicator/locks/lock_manager.h"

namespace lockstep {

/// The id of a lock's document: the lock's name, or the beginning and the hash of a name that is too long for
/// an id. (Two names with one hash would keep each other out, nothing worse.)
std::string document_id(const LockName& name);

/// Whether document_id() is not the name itself. The document has the name then.
bool is_shortened(const LockName& name);

/// Reads a lock from its document; none if it has no holder (but others wait). A document without a lock_type
/// is an exclusive lock of the book's; a shared one without a lock_count has no holders but the named. Throws
/// Error for an unknown lock_type and for any field of another type.
std::optional<LockState> read_lock(const std::string& id, const nlohmann::json& source);

/// The queue of a lock, in order. Throws Error as read_lock() does.
std::vector<LockHolder> read_waiting(const std::string& id, const nlohmann::json& source);

/// {"shared": [names], "exclusive": [names]}
nlohmann::json locks_json(const LockSet& locks);

/// "the operation web1-…", for errors about its document.
std::string place_of_operation(const std::string& id);

/// lease_until of a journal entry. Throws Error if it is missing or has another type.
ServerTime read_lease(const std::string& id, const nlohmann::json& source);

/// Reads a journal entry from its document. from, to, target, token, task, progress and reason may be missing
/// until they have a value. Throws Error for an unknown state, for any other field that is missing, and for
/// any of another type.
Operation read_operation(const std::string& id, const nlohmann::json& source, JournalVersion version);

/// The fields of a new entry without state, epoch and lease.
nlohmann::json entry_json(const Operation& operation);

/// The sequence number and primary term in a reply, a hit or a bulk item; zeros when it has none.
JournalVersion version_of(const nlohmann::json& reply);

ServerTime server_time(std::int64_t milliseconds);
std::int64_t milliseconds_of(ServerTime time);

}  // namespace lockstep
