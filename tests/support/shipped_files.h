// Files of the repository as they are shipped.
#pragma once

#include <string>

namespace lockstep::support {

/// A file's content; `path` begins at the repository's root. Throws std::runtime_error when it isn't there.
std::string shipped_file(const std::string& path);

/// All [[index.track]] of a configuration with one index.
std::string shipped_tracks(const std::string& configuration);

}  // namespace lockstep::support
