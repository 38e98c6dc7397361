// What earlier runs of `apply` have left in the database for one pipeline, as it is now: rows of lockstep's
// schema, functions and triggers, whoever may have changed them since.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replicator/source/postgres/session/session.h"

namespace lockstep {

struct AppliedCapture {
  int id = 0;
  std::string relation;
  std::string expression;
  std::string value_type;
  std::optional<std::vector<std::string>> columns;

  auto identity() const { return std::tie(relation, expression, value_type, columns); }
};

struct AppliedIndexRow {
  int id = 0;
  std::string view;
  std::string id_type;
  bool routed = false;
  std::vector<std::string> fields;
  std::string definition;
  std::set<std::pair<int, std::string>> tracks;  ///< capture and resolver, which may be empty
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
  std::string function;  ///< its name without the schema
  int type = 0;          ///< pg_trigger.tgtype
  bool as_made = false;  ///< enabled always, with its transition tables and nothing else
};

struct AppliedObjects {
  bool has_schema = false;  ///< lockstep's tables are there
  std::optional<int> pipeline;
  std::optional<std::int64_t> max_outbox_size;  ///< of the pipeline
  int pipelines = 0;                            ///< in this schema
  std::vector<AppliedCapture> captures;
  std::map<std::string, AppliedIndexRow> indices;    ///< by alias
  std::map<std::string, AppliedFunction> functions;  ///< by name, those of other pipelines too
  std::vector<AppliedTrigger> triggers;              ///< those of other pipelines too
  std::set<std::string> resolvers_of_others;         ///< what other pipelines' tracks call
};

AppliedObjects load_applied(pqxx::transaction_base& transaction, const PostgresSession& session,
                            const std::string& schema_name, const std::string& pipeline);

}  // namespace lockstep
