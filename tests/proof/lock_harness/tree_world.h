// The tree that the harness changes: small enough for clients to meet, with one directory of so many files
// that the server moves them by itself.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/elasticsearch_index.h"

namespace lockstep::harness {

inline constexpr int kFilesOfTheGreatDirectory = 1'100;

/// The directories at the root that there may be.
std::vector<std::string> tops();

/// A file: its document's id and what is in it.
struct File {
  std::string id;
  std::string contents;
  bool operator==(const File&) const = default;
};

/// By their whole paths.
using Files = std::map<std::string, File>;

/// As it is at first.
Files first_files();

/// Writes them into an index that is there.
void write_files(support::ElasticsearchServer& server, const std::string& index, const Files& files);

}  // namespace lockstep::harness
