// The objects of earlier runs of `apply` in the database for one pipeline: rows of Lockstep's schema,
// functions and triggers, as they are now, even if they were changed since.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "replicator/source/define/index_plan.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

struct AppliedCapture {
  int id = 0;
  std::string relation;
  std::string expression;
  std::string value_type;
  std::optional<std::vector<std::string>> columns;

  auto identity() const { return std::tie(relation, expression, value_type, columns); }
};

struct AppliedFunction {
  std::string body;
  std::string settings;  ///< "name=value", one a line, in order
  bool security_definer = false;
  std::string arguments;
};

struct AppliedTrigger {
  unsigned table_oid = 0;
  std::string table;  ///< quoted
  std::string name;
  std::string quoted_name;
  std::string function;  ///< its name, without the schema
  int type = 0;          ///< pg_trigger.tgtype
  bool as_made = false;  ///< enabled always, with its transition tables and nothing else
};

struct AppliedObjects {
  bool has_schema = false;                      ///< whether Lockstep's tables exist
  std::optional<int> pipeline;                  ///< its id; none before the first apply
  std::optional<std::int64_t> max_outbox_size;  ///< of the pipeline
  int pipelines = 0;                            ///< how many the schema has
  std::vector<AppliedCapture> captures;
  AppliedIndices indices;
  std::map<std::string, AppliedFunction> functions;              ///< by name; those of other pipelines too
  std::vector<AppliedTrigger> triggers;                          ///< those of other pipelines too
  std::map<std::string, std::map<unsigned, std::string>> parts;  ///< names by oid, by tracked table
  std::set<std::pair<std::string, unsigned>> moved_parts;        ///< of these, below other tables now
  std::set<std::string> resolvers_of_others;                     ///< which other pipelines' tracks call
};

/// Whether Lockstep's tables exist in the schema of this name, which is not quoted. Needs no right on it.
bool has_own_tables(PostgresTransaction& transaction, const std::string& schema_name);

/// `schema_name` is not quoted. REQUIRES: the schema has no migrations of a newer Lockstep.
AppliedObjects load_applied(PostgresTransaction& transaction, const std::string& schema_name,
                            const std::string& pipeline);

}  // namespace lockstep
