// The reports of `plan`, `apply` and `check`, in words that fit every source and Elasticsearch.
#pragma once

#include <string>
#include <vector>

#include "replicator/config/config.h"

namespace lockstep {

/// One step of `apply`.
struct PlanStep {
  enum class Action { kCreate, kChange, kDrop };
  Action action = Action::kCreate;
  std::string object;  ///< "trigger lockstep_1_update on blog.users"
  std::string detail;  ///< why, or the details, in one line; may be empty
  std::string sql;     ///< the statements that it runs, on one or more lines
};

/// One finding of `check`.
struct Finding {
  enum class Severity { kError, kWarning };
  Severity severity = Severity::kError;
  std::string place;    ///< its subject: "blog.toml:12", a table or a column; may be empty
  std::string message;  ///< the fault
  std::string remedy;   ///< the remedy; may be empty
  /// The part that has to change: configuration, mapping files and views, which is wrong configuration (exit
  /// code 2); or a server, a right, or the objects of `apply`.
  enum class Cause { kDefinition, kServer };
  Cause cause = Cause::kDefinition;
};

/// Differences of an index's documents from the configured ones.
struct DefinitionDifference {
  enum class Way {
    kInPlace,   ///< `apply` writes every document of the index again
    kNewIndex,  ///< needs a second generation, with this definition from its beginning
  };
  std::string place;   ///< "view", "column title"
  std::string is;      ///< empty: there is no such column
  std::string wanted;  ///< empty: there is no such column any more
  Way way = Way::kInPlace;
};

/// A line of the configuration for messages: "shop.toml:12"; "line 12" of one without a file.
std::string place_in(const Config& config, int line);

/// "<where>: <message>; <remedy>"
std::string to_line(const Finding& finding);

/// Whether at least one of them is an error.
bool has_errors(const std::vector<Finding>& findings);

/// Whether an error is among them whose cause is this one.
bool has_errors(const std::vector<Finding>& findings, Finding::Cause cause);

/// Throws UsageError if at least one of them is an error: each error as to_line(), on a line of its own.
void require_no_errors(const std::vector<Finding>& findings);

}  // namespace lockstep
