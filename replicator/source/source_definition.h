// Defines a pipeline in a source, whichever database that is: Lockstep's own tables, and the captures of
// changes. For `check`, `plan`, `apply` and `remove`.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "replicator/source/definition.h"
#include "replicator/source/reindexes.h"

namespace lockstep {

/// A connection, for one thread. Every function throws Error if the source cannot be asked.
class SourceDefinition {
 public:
  /// The reports of apply() and remove() while they work. Each function may be empty.
  struct Progress {
    std::function<void(const PlanStep&)> step;        ///< of each step, before it or when all are done
    std::function<void(const std::string&)> waiting;  ///< why it waits: "a table is in use; trying again: …"
  };

  virtual ~SourceDefinition() = default;

  /// The kind and version of the server: "PostgreSQL 15.4".
  virtual std::string server() = 0;

  /// The user of this connection. Empty if the source knows no users.
  virtual std::string user() = 0;

  /// Faults of the configuration on this source, and points that cannot be checked. Changes nothing.
  virtual std::vector<Finding> check() = 0;

  /// The fields of the documents of each index, by alias. Leaves out the indices whose view cannot be found.
  virtual std::map<std::string, std::vector<std::string>> document_fields() = 0;

  /// The mark that the pipeline's indices carry. Empty before the first apply().
  virtual std::string identity() = 0;

  /// The aliases of the last apply(). Empty before the first.
  virtual std::vector<std::string> applied_aliases() = 0;

  /// How the documents of each index differ from the configured ones, by alias. Leaves out the indices that
  /// do not differ, that are not applied, or whose view cannot be found.
  virtual std::map<std::string, std::vector<DefinitionDifference>> definition_differences() = 0;

  /// The aliases whose index has another definition (view, JSON columns, tracks) than in the configuration.
  virtual std::vector<std::string> redefined_aliases() = 0;

  /// The aliases whose index was applied when its view, or a table or view below it, was another: it may read
  /// tables and columns now whose changes are not captured. Leaves out the indices whose view cannot be
  /// found.
  virtual std::vector<std::string> altered_aliases() = 0;

  /// Starts a reindex as Reindexes::start() does, whose new generation has the configured definition; makes
  /// the captures of its changes, and leaves every other index as it is. False: the alias has a reindex that
  /// has not failed. Throws as plan() does.
  virtual bool start_reindex(const WantedReindex& wanted, const Progress& progress) = 0;

  /// Drops captures that no index needs any more, as after a reindex that is over.
  virtual void drop_unneeded(const Progress& progress) = 0;

  /// Adds a backfill of each of these indices, in place of one that has not begun. `reason` is for people.
  /// Ignores aliases that are not applied.
  virtual void refill(const std::vector<std::string>& aliases, const std::string& reason) = 0;

  /// From now on plan() and apply() begin a new index of such an alias with a comparison and a sweep, since
  /// it has documents already: not with a backfill.
  virtual void note_filled(std::set<std::string> aliases) = 0;

  /// The steps of apply(), in order. Empty: nothing. Changes nothing. Throws UsageError, one fault a line, if
  /// the configuration does not fit the source.
  virtual std::vector<PlanStep> plan() = 0;

  /// Carries out plan(). A failure leaves the source as it was. A second call finds nothing to do. Throws as
  /// plan() does.
  virtual void apply(const Progress& progress) = 0;

  /// The steps of remove(), in order.
  virtual std::vector<PlanStep> removal_plan() = 0;

  /// Removes everything that apply() has made.
  virtual void remove(const Progress& progress) = 0;

  /// The statements that give `user` the privileges that `lockstep run` needs, and nothing else. Empty if the
  /// source knows no users. Throws as plan() does.
  virtual std::vector<std::string> privileges_for(const std::string& user) = 0;
};

}  // namespace lockstep
