#include "replicator/source/postgres/catalog/differences.h"

#include "replicator/source/postgres/catalog/view_parts.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {

std::string is_subscribed_sql(std::string_view table) {
  return fill_placeholders(postgres_sql("is_subscribed"), {{"table", std::string(table)}});
}

std::vector<Difference> differences_from_applied(PostgresTransaction& transaction, int pipeline,
                                                 const std::string& schema_name) {
  const std::string parts = view_parts_sql(transaction.session(), "c.oid", "w.whole_rows");
  const std::string statement = fill_placeholders(postgres_sql("differences_from_applied"),
                                                  {{"schema", transaction.session().schema()},
                                                   {"parts", parts},
                                                   {"subscribed", is_subscribed_sql("w.oid")}});
  std::vector<Difference> differences;
  const Doing comparing("looking for what has changed since the last apply");
  for (const pqxx::row& row : transaction.run_filled(comparing, statement, pipeline, schema_name))
    differences.push_back({row[1].c_str(), row[0].as<bool>()});
  for (const pqxx::row& row :
       transaction.run(comparing, postgres_sql("check_functions"), pipeline, schema_name)) {
    const std::string function = row[0].c_str();
    if (!row[1].as<bool>()) {
      differences.push_back(
          {"whether triggers fit their table is not known without the right to execute function " + function +
               "; `lockstep check` names the grant",
           false});
      continue;
    }
    const pqxx::result found = transaction.run(comparing, "select " + function);
    if (!found[0][0].is_null()) differences.push_back({found[0][0].c_str(), false});
  }
  return differences;
}

}  // namespace lockstep
