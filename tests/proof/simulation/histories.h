// What the index has to have of each document: its states, by the number of the commit that made them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "replicator/ids.h"

namespace lockstep::simulation {

/// The document of an index whose changes nothing else may hold up.
inline constexpr const char* kOwnDocument = "own";

/// A property does not hold.
class Finding : public std::runtime_error {
 public:
  /// `property` in words that are the same each time.
  Finding(const std::string& property, const std::string& details)
      : std::runtime_error(property + ": " + details) {}
};

class Histories {
 public:
  /// A document exists from this commit on, or does not.
  void note(IndexId index, const std::string& id, std::int64_t commit, bool exists);

  /// The commit that made what the view has of it; 0: none.
  std::int64_t last(IndexId index, const std::string& id) const;

  /// Elasticsearch has it as this commit made it. Throws Finding when it had a newer state.
  void shown(IndexId index, const std::string& id, std::int64_t commit);

  /// Elasticsearch does not have it any more. Throws Finding when no commit has deleted it since what it had.
  void gone(IndexId index, const std::string& id);

  /// The source has lost all commits after this one.
  void forget_after(std::int64_t commit);

  /// The source has an older state again, since this commit. Elasticsearch may have any state.
  void start_over(std::int64_t commit, const std::function<bool(IndexId, const std::string&)>& exists);

  /// Elasticsearch may have any state of the index's documents.
  void forget_shown(IndexId index);

 private:
  struct State {
    std::int64_t commit = 0;
    bool exists = false;
  };
  struct History {
    std::vector<State> states;
    std::int64_t shown = 0;
  };
  std::map<std::pair<IndexId, std::string>, History> histories_;
};

}  // namespace lockstep::simulation
