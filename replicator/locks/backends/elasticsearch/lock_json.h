// Locks and journal entries as the documents of Elasticsearch have them: the book's fields (lock_type,
// lock_count, process_id) with the holders beside them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "replicator/locks/lock_manager.h"

namespace lockstep {

/// The id of a lock's document: its name, or where Elasticsearch's 512 bytes are not enough the name's
/// beginning and its hash. (Two names with one hash would keep each other out, nothing worse.)
std::string document_id(const LockName& name);

/// Whether document_id() is not the name itself, which then stands in the document.
bool is_shortened(const LockName& name);

/// A lock from its document; none for one that nobody holds (left over from a waiting mark).
/// Fields of the wrong type count as missing.
std::optional<LockState> read_lock(const std::string& id, const nlohmann::json& source);

/// {"shared": [names], "exclusive": [names]}
nlohmann::json locks_json(const LockSet& locks);

/// A journal entry from its document.
Operation read_operation(const std::string& id, const nlohmann::json& source, JournalVersion version);

/// The fields of a new entry but for state, epoch and lease.
nlohmann::json entry_json(const Operation& operation);

ServerTime server_time(std::int64_t milliseconds);
std::int64_t milliseconds_of(ServerTime time);

/// On one line; what is no UTF-8 is replaced.
std::string dumped(const nlohmann::json& json);

}  // namespace lockstep
