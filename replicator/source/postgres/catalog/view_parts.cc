#include "replicator/source/postgres/catalog/view_parts.h"

#include <nlohmann/json.hpp>

#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/place.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

constexpr const char* kParts = "parts";
constexpr const char* kWholeRows = "whole_rows";
constexpr const char* kDatabase = "database";  // the part that tells in which database the others were read
constexpr std::size_t kChecksumLetters = 32;   // in another database the first checksum alone counts

}  // namespace

std::string ViewParts::text() const {
  return nlohmann::json{{kParts, parts}, {kWholeRows, whole_rows}}.dump();
}

std::vector<std::string> ViewParts::changed_since(std::string_view stored) const {
  if (!stored.starts_with('{')) return {"an older lockstep, which knew less of it, has applied it"};
  const auto before = nlohmann::json::parse(stored).at(kParts).get<std::map<std::string, std::string>>();
  const auto database = before.find(kDatabase);
  const bool is_same_database = database != before.end() && database->second == parts.at(kDatabase);
  const std::size_t letters = is_same_database ? std::string::npos : kChecksumLetters;
  std::set<std::string> names;
  for (const auto& [name, sum] : parts) {
    const auto known = before.find(name);
    if (known == before.end() || known->second.substr(0, letters) != sum.substr(0, letters))
      names.insert(name);
  }
  for (const auto& [name, sum] : before) {
    if (!parts.contains(name)) names.insert(name);
  }
  names.erase(kDatabase);
  return {names.begin(), names.end()};
}

ViewParts read_view_parts(PostgresTransaction& transaction, unsigned view, std::set<std::string> whole_rows) {
  const std::string names = array_literal({whole_rows.begin(), whole_rows.end()});
  const pqxx::result found = transaction.run_once(
      "select " +
      view_parts_sql(transaction.session(), std::to_string(view), transaction.quote(names) + "::text[]") +
      "::text");
  return {nlohmann::json::parse(found[0][0].c_str()).get<std::map<std::string, std::string>>(),
          std::move(whole_rows)};
}

std::string view_parts_sql(PostgresSession& session, std::string_view view, std::string_view whole_rows) {
  const std::string place = place_expression(session);
  return fill_placeholders(without_comment(postgres_sql("view_parts")),
                           {{"view", view}, {"whole_rows", whole_rows}, {"place", place}});
}

}  // namespace lockstep
