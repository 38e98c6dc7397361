// The files that hold the secrets and certificates of a configuration: who can read them, and their new
// contents after a rotation.
#pragma once

#include <filesystem>
#include <vector>

#include "replicator/config/config.h"

namespace lockstep {

/// The files that the configuration names for secrets and certificates, not the configuration itself.
std::vector<std::filesystem::path> credential_files(const Config& config);

/// Files with secrets or private keys that every user of this machine can read; with the configuration, when
/// a secret stands in it.
std::vector<std::filesystem::path> secrets_open_to_all(const Config& config);

/// Whether the files hold other secrets than `config`, or cannot be read.
bool has_rotated(const Config& config);

/// The configuration with the secrets that its files hold now. Throws UsageError if one cannot be read.
Config with_present_credentials(Config config);

}  // namespace lockstep
