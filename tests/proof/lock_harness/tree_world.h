// The tree that the harness changes: small enough for clients to meet, with one directory of so many files
// that the server moves them itself, in an index that somebody else has made: its `path.tree` folds case,
// and half of the directories differ from the others by nothing else.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/elasticsearch_index.h"

namespace lockstep::harness {

inline constexpr int kFilesOfTheGreatDirectory = 1'100;

/// The directories that may exist in the root.
std::vector<std::string> tops();

/// A file: the id of its document, and its contents.
struct File {
  std::string id;
  std::string contents;
  bool operator==(const File&) const = default;
};

/// By their whole paths.
using Files = std::map<std::string, File>;

/// The tree at first.
Files first_files();

/// Creates the index of the tree.
void create_folding_index(support::ElasticsearchServer& server, const std::string& index);

/// Writes files into an existing index.
void write_files(support::ElasticsearchServer& server, const std::string& index, const Files& files);

}  // namespace lockstep::harness
