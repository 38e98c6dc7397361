// What `plan`, `apply` and `remove` need of a source, whichever database it is: lockstep's own schema, what
// is captured, the triggers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/definition.h"

namespace lockstep {

class SourceDefinition {
 public:
  /// What is told during the work; each may be empty.
  struct Progress {
    std::function<void(const PlanStep&)> step;        ///< about to be done
    std::function<void(const std::string&)> waiting;  ///< "waiting for writers of blog.users …"
  };

  virtual ~SourceDefinition() = default;

  /// Which server this is: "PostgreSQL 15.4".
  virtual std::string server() = 0;

  /// The role that this is connected as.
  virtual std::string user() = 0;

  /// What is wrong with the configuration on this database, and what cannot be vouched for. Changes nothing.
  /// Throws Error when the database cannot be asked.
  virtual std::vector<Finding> check() = 0;

  /// What the pipeline's indices carry in their mark; empty before the first apply.
  virtual std::string identity() = 0;

  /// The aliases that the last apply has left; none before the first.
  virtual std::vector<std::string> applied_aliases() = 0;

  /// Lets these indices be filled from the beginning, since what Elasticsearch had of them is gone. Aliases
  /// that have not been applied are none of its business.
  virtual void refill(const std::vector<std::string>& aliases) = 0;

  /// What apply would do, in order; empty: nothing. Changes nothing. Throws UsageError when the configuration
  /// does not fit the database, with one fault a line.
  virtual std::vector<PlanStep> plan() = 0;

  /// Does it, so that a failure leaves the database as it was and a repetition finds nothing to do. Throws as
  /// plan() does, and Error.
  virtual void apply(const Progress& progress) = 0;

  virtual std::vector<PlanStep> removal_plan() = 0;
  virtual void remove(const Progress& progress) = 0;

  /// The statements that give `role` what it needs for `lockstep run`, and nothing else.
  virtual std::vector<std::string> grants(const std::string& role) = 0;
};

/// Connects. `config` must outlive the result. Throws Error when the source cannot be reached, UsageError
/// when it is of a kind that this build does not know.
std::unique_ptr<SourceDefinition> open_source_definition(const Config& config);

}  // namespace lockstep
