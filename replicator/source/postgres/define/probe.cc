#include "replicator/source/postgres/define/probe.h"

#include <string_view>

#include "replicator/source/postgres/catalog/catalog.h"

namespace lockstep {
namespace {

constexpr const char* kCreateProbe = "create view pg_temp.lockstep_expression_probe as ";
constexpr const char* kFindProbe = "select 'pg_temp.lockstep_expression_probe'::regclass::oid";

}  // namespace

std::string with_values(std::string keys, const std::string& values) {
  constexpr std::string_view kParameter = "$1";
  for (std::size_t at = keys.find(kParameter); at != std::string::npos;
       at = keys.find(kParameter, at + values.size()))
    keys.replace(at, kParameter.size(), values);
  return keys;
}

void ask_of_query(PostgresTransaction& transaction, const std::string& query,
                  const std::function<void(unsigned view)>& ask) {
  complaint_about(transaction, {kCreateProbe + query, kFindProbe},
                  [&](const pqxx::result& found) { ask(found[0][0].as<unsigned>()); });
}

std::optional<ViewReads> reads_of_query(PostgresTransaction& transaction, const std::string& query) {
  std::optional<ViewReads> reads;
  ask_of_query(transaction, query, [&](unsigned view) { reads = read_view(transaction, view); });
  return reads;
}

}  // namespace lockstep
