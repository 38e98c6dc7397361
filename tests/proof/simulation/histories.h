// What the index has to have of each document: its states, by the number of the commit that made them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
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

/// Of an index, the generations that there are and were: each real index has a number of its own.
using Generation = int;

class Histories {
 public:
  /// A document exists from this commit on, or does not.
  void note(IndexId index, const std::string& id, std::int64_t commit, bool exists);

  /// What this commit makes of documents Elasticsearch refuses.
  void note_refused(std::int64_t commit) { refused_.insert(commit); }

  /// Whether any of its states was.
  bool was_refused(IndexId index, const std::string& id) const;

  /// Elasticsearch has it as this commit made it. Throws Finding when it had a newer state.
  void shown(IndexId index, Generation in, const std::string& id, std::int64_t commit);

  /// Elasticsearch does not have it any more. Throws Finding when no commit has deleted it since what it had.
  void gone(IndexId index, Generation in, const std::string& id);

  /// A wait for this commit is over: from now on searches show every document that no later commit has
  /// changed as it is, or as a later one makes it.
  void promise(std::int64_t commit);

  /// A search has found it as this commit made it; none: it has not. Throws Finding when it has to show more.
  void found(IndexId index, const std::string& id, std::optional<std::int64_t> commit) const;

  /// The documents of an index that there were.
  std::vector<std::string> documents(IndexId index) const;

  /// The source has lost all commits after this one.
  void forget_after(std::int64_t commit);

  /// The source has an older state again, since this commit: each document as the commit that `made_by` gives
  /// made it; none: it does not exist. Elasticsearch may have any state.
  void start_over(std::int64_t commit,
                  const std::function<std::optional<std::int64_t>(IndexId, const std::string&)>& made_by);

  /// Elasticsearch may have any state of the index's documents.
  void forget_shown(IndexId index);

 private:
  struct State {
    std::int64_t commit = 0;
    bool exists = false;
    std::int64_t made_by = 0;  ///< another commit, where a restore has put it back
  };
  struct History {
    std::vector<State> states;
    std::map<Generation, std::int64_t> shown;
    State promised;
  };
  std::map<std::pair<IndexId, std::string>, History> histories_;
  std::set<std::int64_t> refused_;
};

}  // namespace lockstep::simulation
