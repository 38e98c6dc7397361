#include "replicator/source/postgres/session/value_settings.h"

#include <string_view>

#include "replicator/source/postgres/session/array.h"

namespace lockstep {
namespace {

enum class Of { kTexts, kExpressions };

struct Setting {
  Of of;
  const char* name;   // as the server writes it
  const char* value;  // null: as the database has it
};

// Two are missing. Under another xmloption an expression fails or has the same value, and failing changes are
// noted as a whole (triggers.h, T5). To set timezone_abbreviations costs three times as much as all else that
// a trigger does.
constexpr Setting kSettings[] = {
    {Of::kTexts, "DateStyle", "ISO"},  // the order of day and month stays
    {Of::kTexts, "IntervalStyle", "postgres"},
    {Of::kTexts, "TimeZone", "UTC"},
    {Of::kTexts, "bytea_output", "hex"},
    {Of::kTexts, "extra_float_digits", "1"},
    {Of::kTexts, "lc_monetary", nullptr},
    {Of::kExpressions, "array_nulls", "on"},
    {Of::kExpressions, "default_text_search_config", nullptr},
    {Of::kExpressions, "lc_numeric", nullptr},
    {Of::kExpressions, "lc_time", nullptr},
    {Of::kExpressions, "quote_all_identifiers", "off"},
    {Of::kExpressions, "standard_conforming_strings", "on"},
    {Of::kExpressions, "transform_null_equals", nullptr},
    {Of::kExpressions, "xmlbinary", nullptr},
};

}  // namespace

std::string value_settings_sql() {
  std::string sql;
  for (const Setting& setting : kSettings) {
    if (setting.value != nullptr) sql += "set " + std::string(setting.name) + " = '" + setting.value + "';\n";
  }
  return sql;
}

std::vector<std::string> settings_of_database() {
  std::vector<std::string> names;
  for (const Setting& setting : kSettings) {
    if (setting.value == nullptr || std::string_view(setting.name) == "DateStyle")
      names.emplace_back(setting.name);
  }
  return names;
}

ValueSettings value_settings(PostgresTransaction& transaction) {
  std::vector<std::string> names;
  for (const Setting& setting : kSettings) names.emplace_back(setting.name);
  const pqxx::result values = transaction.run(
      "select s.name || '=' || pg_catalog.current_setting(s.name) from "
      "unnest($1::text[]) with ordinality as s(name, place) order by s.place",
      array_literal(names));
  ValueSettings settings;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string value = values[static_cast<pqxx::result::size_type>(i)][0].c_str();
    (kSettings[i].of == Of::kTexts ? settings.of_texts : settings.of_expressions).push_back(value);
  }
  return settings;
}

}  // namespace lockstep
