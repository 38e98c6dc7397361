// What `plan`, `apply` and `check` say about a source or about Elasticsearch, in terms that know neither.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

/// One thing that `apply` does.
struct PlanStep {
  enum class Action { kCreate, kChange, kDrop };
  Action action = Action::kCreate;
  std::string object;  ///< "trigger lockstep_1_update on blog.users"
  std::string detail;  ///< why, or what exactly, in one line; may be empty
  std::string sql;     ///< what is executed, for whoever wants to read it; may have many lines
};

/// One thing that `check` found.
struct Finding {
  enum class Severity { kError, kWarning };
  Severity severity = Severity::kError;
  std::string place;    ///< "blog.toml:12", a table or a column; may be empty
  std::string message;  ///< what is wrong
  std::string remedy;   ///< what to do about it; may be empty
};

/// "<place>: <message>; <remedy>"
std::string to_line(const Finding& finding);

/// Whether one of them is an error.
bool has_errors(const std::vector<Finding>& findings);

}  // namespace lockstep
