// Whether what SQLite has written in this process would survive a power cut: a layer over SQLite's own way to
// files, which notes for each of them whether it was synced since it was last written.
#pragma once

#include <string>

namespace lockstep::support {

/// From now on every connection that this process opens goes through the layer.
void record_syncs();

/// Whether the file at this path was written by this process and not synced since.
bool is_unsynced(const std::string& path);

}  // namespace lockstep::support
