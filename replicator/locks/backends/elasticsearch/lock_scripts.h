// The painless scripts for locks, stored in the cluster under ids with a version. Clients in other languages
// call them with one request each (docs/lock-protocol.md). A changed script gets another version and so
// another id: programs of different ages work side by side.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

struct LockScript {
  std::string id;           ///< "lockstep-acquire-v3"
  std::string_view source;  ///< the content of scripts/acquire.painless
};

/// All of them, in the order of their ids.
std::vector<LockScript> lock_scripts();

namespace script_id {
inline constexpr const char* kAcquire = "lockstep-acquire-v3";
inline constexpr const char* kRelease = "lockstep-release-v3";
inline constexpr const char* kDowngrade = "lockstep-downgrade-v2";
inline constexpr const char* kRenew = "lockstep-renew-v1";
inline constexpr const char* kJournalOpen = "lockstep-journal-open-v1";
inline constexpr const char* kJournalStep = "lockstep-journal-step-v1";
inline constexpr const char* kJournalSeize = "lockstep-journal-seize-v1";
inline constexpr const char* kJournalToken = "lockstep-journal-token-v2";
inline constexpr const char* kTreeChange = "lockstep-tree-change-v2";
}  // namespace script_id

enum class Painless { kHere, kMissing };

/// Stores the scripts that are missing or differ. Returns kMissing when the engine has no painless or does
/// not allow stored scripts. Throws Error as the client does.
Painless install_lock_scripts(ElasticsearchClient& client);

}  // namespace lockstep
