// The settings on which the text of a value, or the value of an expression, depends. This is the one list of
// them: Lockstep's sessions read views under it, and the functions of triggers, which run in a writer's
// session, have it fixed by `apply`. So both find the same document for a row.
//
// Values that Lockstep or Elasticsearch reads again have one form for all databases. Settings that only say
// how to read a text (which of two numbers is the month) or how the application wants it (its currency) stay
// as the database has them: a view means that, and under another one '25/12/2024' would be an error.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// Each "name=value", as pg_proc.proconfig has it.
struct ValueSettings {
  std::vector<std::string> of_texts;        ///< the text of a date, a float or a sum of money depends on them
  std::vector<std::string> of_expressions;  ///< also: an expression that is parsed or run under them
};

/// Statements that a new session begins with.
std::string value_settings_sql();

/// Names of those that are left as the database has them: when one of them changes there, documents do.
std::vector<std::string> settings_of_database();

/// As the session of this transaction has them.
ValueSettings value_settings(PostgresTransaction& transaction);

}  // namespace lockstep
