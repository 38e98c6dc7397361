#include "replicator/source/postgres/catalog/view_parts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/value_settings.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr const char* kParts = "parts";
constexpr const char* kWholeRows = "whole_rows";
constexpr const char* kRows = "rows";
constexpr const char* kOrigin = "origin";
constexpr const char* kChanged = "changed";
constexpr const char* kVersion = "version";
constexpr const char* kViews = "views";        // their texts
constexpr const char* kLabels = "labels";      // of enums
constexpr const char* kDatabase = "database";  // the part that records in which database the others were read
constexpr std::string_view kSetting = "setting ";
constexpr std::string_view kNotNull = "not null of ";  // a constraint, which may come, and must not go
constexpr std::size_t kChecksumLetters = 32;           // in another database the first checksum alone counts

std::set<std::string> names_in(const json& stored, const char* key) {
  return stored.contains(key) ? stored.at(key).get<std::set<std::string>>() : std::set<std::string>();
}

std::string_view checksum_of(std::string_view part) {
  return part.substr(0, kChecksumLetters);
}

// The stored checksum is the view's but for the text, and the server makes the same of both texts.
bool is_reprinted(PostgresTransaction& transaction, const std::string& stored_text,
                  std::string_view stored_checksum, const ViewState& now) {
  const pqxx::result before =
      transaction.run_once("select md5(concat_ws(' ', $1::text, $2::text, nullif($3::text, '')))", now.before,
                           stored_text, now.after);
  if (before[0][0].c_str() != stored_checksum) return false;
  bool is_same = false;
  complaint_about(transaction,
                  {"create temporary view lockstep_reprinted as " + stored_text,
                   "select pg_get_viewdef('pg_temp.lockstep_reprinted'::regclass)"},
                  [&](const pqxx::result& printed) { is_same = printed[0][0].c_str() == now.text; });
  return is_same;
}

enum class LabelsBefore { kSame, kOthers, kOthersMeanwhile };

// Of the labels that `known`, a stored text, has of an enum: they are there, in their order, or came back.
LabelsBefore labels_before(const json& known, const std::string& name, const ViewParts& now,
                           bool is_same_database) {
  const auto labels = now.labels.find(name);
  if (labels == now.labels.end() || !known.contains(kLabels) || !known.at(kLabels).contains(name))
    return LabelsBefore::kOthers;
  LabelsBefore found = LabelsBefore::kSame;
  auto next = labels->second.begin();
  for (const auto& before : known.at(kLabels).at(name).get<EnumLabels>()) {
    next = std::find_if(next, labels->second.end(),
                        [&](const auto& each) { return each.first == before.first; });
    if (next == labels->second.end()) return LabelsBefore::kOthers;
    if (is_same_database && *next != before) found = LabelsBefore::kOthersMeanwhile;
    ++next;
  }
  return found;
}

std::string settings_sql() {
  std::string names;
  for (const std::string& name : settings_of_database())
    names += (names.empty() ? "array['" : ", '") + name + "'";
  return fill_placeholders(without_comment(postgres_sql("settings_of_database")), {{"names", names + "]"}});
}

std::string origin_sql(std::string_view view, std::string_view rows) {
  return fill_placeholders(without_comment(postgres_sql("origin")),
                           {{"view", view},
                            {"rows", rows},
                            {"settings", settings_sql()},
                            {"origin", without_comment(postgres_sql("row_origin"))}});
}

}  // namespace

std::string ViewParts::text() const {
  json stored{{kParts, parts},     {kWholeRows, whole_rows}, {kRows, json::parse(rows)}, {kOrigin, origin},
              {kVersion, version}, {kViews, json::object()}, {kLabels, labels}};
  for (const auto& [name, view] : views) stored[kViews][name] = view.text;
  if (!changed.empty()) stored[kChanged] = changed;
  return stored.dump();
}

bool is_view_parts(std::string_view stored) {
  return stored.starts_with('{');
}

PartsComparison ViewParts::compared_with(PostgresTransaction& transaction, std::string_view stored) const {
  if (!is_view_parts(stored)) return {{"an older lockstep, which knew less of it, has applied it"}, {}};
  const json known = json::parse(stored);
  const auto before = known.at(kParts).get<std::map<std::string, std::string>>();
  const auto database = before.find(kDatabase);
  const bool is_same_database = database != before.end() && database->second == parts.at(kDatabase);
  std::set<std::string> others;
  std::set<std::string> replaced = names_in(known, kChanged);
  if (!known.contains(kOrigin)) replaced.insert("an older lockstep, which noted less of it, has applied it");
  for (const auto& [name, part] : parts) {
    const auto found = before.find(name);
    const bool may_be_new = name.starts_with(kSetting) || name.starts_with(kNotNull);
    if (found == before.end() && may_be_new) continue;  // an older Lockstep noted none
    if (found == before.end() || checksum_of(found->second) != checksum_of(part)) {
      const LabelsBefore its = labels_before(known, name, *this, is_same_database);
      if (its == LabelsBefore::kOthers) others.insert(name);
      if (its == LabelsBefore::kOthersMeanwhile) replaced.insert(name);
    } else if (is_same_database && known.contains(kOrigin) && found->second != part) {
      replaced.insert(name);
    }
  }
  for (const auto& [name, part] : before) {
    if (!parts.contains(name)) others.insert(name);
  }
  others.erase(kDatabase);
  if (known.contains(kVersion) && known.at(kVersion) != version) {
    std::erase_if(others, [&](const std::string& name) {
      const auto view = views.find(name);
      return view != views.end() && known.at(kViews).contains(name) &&
             is_reprinted(transaction, known.at(kViews).at(name).get<std::string>(),
                          checksum_of(before.at(name)), view->second);
    });
  }
  return {{others.begin(), others.end()}, {replaced.begin(), replaced.end()}};
}

std::string marked_as_changed(std::string_view stored, const std::vector<std::string>& changed) {
  if (!is_view_parts(stored)) return std::string(stored);
  json marked = json::parse(stored);
  std::set<std::string> names = names_in(marked, kChanged);
  names.insert(changed.begin(), changed.end());
  marked[kChanged] = names;
  return marked.dump();
}

std::set<std::string> stored_whole_rows(std::string_view stored) {
  return is_view_parts(stored) ? names_in(json::parse(stored), kWholeRows) : std::set<std::string>();
}

ViewParts read_view_parts(PostgresTransaction& transaction, unsigned view, std::set<std::string> whole_rows) {
  const std::string names = transaction.quote(array_literal({whole_rows.begin(), whole_rows.end()}));
  const std::string oid = std::to_string(view);
  const pqxx::result found = transaction.run_once(
      fill_placeholders(without_comment(postgres_sql("view_parts")),
                        {{"view", oid},
                         {"whole_rows", names + "::text[]"},
                         {"schema_text", transaction.quote(transaction.session().schema())},
                         {"row_origin", without_comment(postgres_sql("row_origin"))},
                         {"settings", settings_sql()},
                         {"origin", origin_sql(oid, "objects")}}));
  const json read = json::parse(found[0][0].c_str());
  ViewParts parts{read.at(kParts).get<std::map<std::string, std::string>>(),
                  std::move(whole_rows),
                  read.at(kRows).dump(),
                  read.at(kOrigin).get<std::string>(),
                  {},
                  read.at(kLabels).get<std::map<std::string, EnumLabels>>(),
                  read.at(kVersion).get<int>(),
                  {}};
  for (const auto& [name, state] : read.at(kViews).items()) {
    parts.views[name] = {state.at(0).get<std::string>(), state.at(1).get<std::string>(),
                         state.at(2).is_null() ? "" : state.at(2).get<std::string>()};
  }
  return parts;
}

std::string read_definitions_sql() {
  const std::string origin =
      origin_sql("c.oid",
                 "(select (e.row ->> 0)::oid, (e.row ->> 1)::oid, (e.row ->> 2)::integer[] "
                 "from jsonb_array_elements(d.stored -> 'rows') as e(row))");
  return fill_placeholders(postgres_sql("read_definitions"), {{"schema", "{schema}"}, {"origin", origin}});
}

}  // namespace lockstep
