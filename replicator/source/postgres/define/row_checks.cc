#include "replicator/source/postgres/define/row_checks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "replicator/source/postgres/define/query_plan.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

constexpr int kSmallTablePages = 128;     // a megabyte: read as a whole sooner than through an index
constexpr int kLongestId = 512;           // bytes; Elasticsearch accepts none longer
constexpr const char* kTimeLimit = "5s";  // for each look at rows

class RowChecks {
 public:
  RowChecks(PostgresTransaction& transaction, const PipelineDesign& design, std::vector<Finding>& findings)
      : transaction_(transaction), design_(design), findings_(findings) {}

  enum class Looks { kAtDocuments, kAtEverything };

  void check(Looks looks) {
    transaction_.execute(std::string("set local statement_timeout = '") + kTimeLimit + "'");
    for (const IndexDesign& index : design_.indices) {
      check_ids(index);
      check_rendering(index);
      if (looks == Looks::kAtDocuments) continue;
      check_searches(index);
      check_values(index);
    }
  }

 private:
  void fault(std::string place, std::string message, std::string remedy = {}) {
    findings_.push_back({Finding::Severity::kError, std::move(place), std::move(message), std::move(remedy)});
  }
  void warn(std::string place, std::string message, std::string remedy = {}) {
    findings_.push_back(
        {Finding::Severity::kWarning, std::move(place), std::move(message), std::move(remedy)});
  }

  // Runs a look at rows; false: it did not succeed. Reports it if the time is over or the server complains. A
  // missing right is a finding already.
  bool look(const IndexDesign& index, const std::string& place, const std::string& what,
            const std::vector<std::string>& statements,
            const std::function<void(const pqxx::result&)>& on_result) {
    const std::optional<Complaint> complaint = complaint_about(transaction_, statements, on_result);
    if (!complaint) return true;
    if (complaint->sqlstate == sqlstate::kQueryCanceled) {
      warn(place, what + " took longer than " + kTimeLimit + ", so it was not checked");
    } else if (!complaint->is_missing_right()) {
      fault(place, what + ": " + complaint->message, remedy(index, *complaint));
    }
    return false;
  }

  // The reads of a function that the view calls are in no list of grants.
  void check_rights_of_functions(const IndexDesign& index, const std::vector<std::string>& statements) {
    const std::optional<Complaint> complaint = complaint_about(transaction_, statements, [](const auto&) {});
    if (!complaint || !complaint->is_missing_right()) return;
    const pqxx::row session = only_row(
        transaction_.run_once("select has_table_privilege($1::oid, 'select'), current_user", index.view_oid));
    if (!session[0].as<bool>()) {
      return fault(index.line, "rendering some rows of view " + index.view + ": " + complaint->message,
                   "run this with --as URL of the owner; `lockstep plan --as URL --role " +
                       session[1].as<std::string>() +
                       "` prints the rights that the role of `lockstep run` needs");
    }
    fault(index.line, "rendering some rows of view " + index.view + ": " + complaint->message,
          "a function that the view calls reads with its caller's rights: give these to the role "
          "of `lockstep run`, or let the function be security definer");
  }

  // Objects of an application's session that are not there for ours are found through the search_path.
  std::string remedy(const IndexDesign& index, const Complaint& complaint) {
    constexpr std::string_view kUndefined[] = {"42P01", "42883", "42704", "3F000"};
    if (std::find(std::begin(kUndefined), std::end(kUndefined), complaint.sqlstate) == std::end(kUndefined))
      return {};
    std::string statements;
    for (const unsigned function : index.reads.functions) {
      for (const pqxx::row& row : transaction_.run_once(postgres_sql("search_path_of"), function))
        statements += (statements.empty() ? "" : "; ") + std::string(row[0].c_str());
    }
    if (statements.empty()) return {};
    return "lockstep reads with an empty search_path, and functions find only what they name with its "
           "schema: " +
           statements;
  }

  void check_ids(const IndexDesign& index) {
    const std::string statement = fill_placeholders(postgres_sql("sample_ids"), {{"view", index.view}});
    look(index, index.line, "reading some rows of view " + index.view,
         {"set local enable_seqscan = on", statement}, [&](const pqxx::result& result) {
           const pqxx::row row = result[0];
           if (row[1].as<int>() > 0) {
             fault(index.line,
                   std::string(row[1].c_str()) + " of " + row[0].c_str() + " rows of view " + index.view +
                       " have no _id",
                   "leave them out: where … is not null");
           }
           if (!row[2].is_null()) {
             fault(index.line,
                   "_id of view " + index.view + " is not unique: several rows have " + row[2].c_str(),
                   "group them into one row, or take another _id");
           }
           if (!row[3].is_null() && row[3].as<int>() > kLongestId) {
             warn(index.line, "view " + index.view + " has an _id of " + row[3].c_str() +
                                  " bytes; Elasticsearch takes " + std::to_string(kLongestId) +
                                  " at most, so it becomes a dead letter");
           }
         });
  }

  // Whether rows become JSON: the planner leaves out unused columns.
  void check_rendering(const IndexDesign& index) {
    const std::vector<std::string> statements = {
        "set local enable_seqscan = on",
        "select count(to_json(v.*)::text) from (select * from " + index.view + " limit 10) as v"};
    look(index, index.line, "rendering some rows of view " + index.view, statements,
         [](const pqxx::result&) {});
    const bool lacks_rights = std::any_of(findings_.begin(), findings_.end(), [](const Finding& finding) {
      return finding.remedy.starts_with("grant ") || finding.remedy.find("\ngrant ") != std::string::npos;
    });
    if (!lacks_rights) check_rights_of_functions(index, statements);
  }

  void check_searches(const IndexDesign& index) {
    // Whole rows: the planner leaves out an unused subquery.
    const std::string by_id = "select v.* from " + index.view + " as v where v._id = any($1)";
    const std::string rendering = "rendering documents of view " + index.view + " by their _id";
    explain(index, index.line, rendering, by_id, index.id_type,
            [&](const nlohmann::json& plan) { warn_of_scans(index.line, rendering, plan); });
    for (const TrackDesign& track : index.tracks) {
      if (track.resolver_query.empty()) continue;
      const std::string finding =
          "finding the documents of " + index.alias + " for a changed row of " + track.table;
      explain(index, track.line, finding, track.resolver_query, design_.captures[track.capture].value_type,
              [&](const nlohmann::json& plan) {
                warn_of_scans(track.line, finding, plan);
                warn_of_own_table(track, plan);
              });
    }
  }

  // A query that looks for a changed row by its key, in its own table and nowhere else.
  void warn_of_own_table(const TrackDesign& track, const nlohmann::json& plan) {
    const PostgresRelation& table = design_.tables.at(track.table).relation;
    const std::vector<const PostgresColumn*> key = table.primary_key();
    const std::vector<const nlohmann::json*> reads = table_reads(plan);
    if (key.size() != 1 || reads.size() != 1) return;
    const nlohmann::json& read = *reads.front();
    if (!is_name(read.at("Relation Name").get<std::string>(), table.alias)) return;
    if (asked_expression(read.value("Alias", ""), own_conditions_of(read)) != key.front()->quoted) return;
    warn(track.line,
         "keys of table " + track.table +
             " look for a changed row in that table, where a deleted one is not found, so its documents stay",
         "write row = \"…\" instead, with what the query selects");
  }

  // Searches that have no index.
  void warn_of_scans(const std::string& place, const std::string& what, const nlohmann::json& plan) {
    std::map<std::string, std::string> scanned;  // with the remedy, by table
    scans_in(plan, conditions_of(plan), scanned);
    for (const auto& [table, remedy] : scanned) warn(place, what + " reads the whole of " + table, remedy);
  }

  // The plan for any values: with sequential scans off, the planner takes one only if it must.
  void explain(const IndexDesign& index, const std::string& place, const std::string& what,
               const std::string& query, const std::string& type,
               const std::function<void(const nlohmann::json&)>& on_plan) {
    constexpr const char* kForgetProbe = "deallocate lockstep_search_probe";
    const std::string prepare = "prepare lockstep_search_probe(" + type + "[]) as " + query;
    if (complaint_about(transaction_, prepare)) return;
    // A prepared statement outlives the savepoint.
    transaction_.execute(kForgetProbe);
    look(index, place, what,
         {"set local enable_seqscan = off", "set local plan_cache_mode = force_generic_plan", prepare,
          "explain (format json, verbose) execute lockstep_search_probe('{}')"},
         [&](const pqxx::result& result) {
           on_plan(nlohmann::json::parse(result[0][0].c_str()).at(0).at("Plan"));
         });
    // Fails if the look ended before the statement was prepared.
    complaint_about(transaction_, std::string(kForgetProbe));
  }

  // Whether a node reads all of its table. Without a condition that compares, an index scan does so too, and
  // with one that does not concern the index's first column it reads all of the index.
  bool reads_all(const nlohmann::json& plan) {
    if (!plan.contains("Relation Name")) return false;
    const std::string node = plan.at("Node Type");
    if (node == "Seq Scan") return true;
    const nlohmann::json& by_index =
        node == "Bitmap Heap Scan" && plan.contains("Plans") ? plan.at("Plans").at(0) : plan;
    if (by_index.at("Node Type").get<std::string>().find("Index") == std::string::npos) return false;
    const std::string condition = by_index.value("Index Cond", "");
    return condition.find_first_of("=<>@&|~?") == std::string::npos ||
           !enters(plan.value("Schema", ""), by_index.value("Index Name", ""), condition);
  }

  // Whether the condition names the first column of the index, if that decides how much is read.
  bool enters(const std::string& schema, const std::string& index, const std::string& condition) {
    const pqxx::result first = transaction_.run_once(postgres_sql("first_column_of_tree"), schema, index);
    return first.empty() ||
           condition.find("." + std::string(first[0][0].c_str()) + " ") != std::string::npos ||
           condition.find("." + std::string(first[0][0].c_str()) + ")") != std::string::npos;
  }

  // `create` up to the parenthesis.
  static std::string index_of(const std::string& create, const std::string& expression) {
    if (expression.front() != '(') return create + expression + ")";
    if (names_other_table(expression))
      return "no index can serve " + expression + ", which has columns of several tables; take those of one";
    return create + expression +
           "), which PostgreSQL refuses if a part is not immutable, as a date, a time or an enum as text "
           "is not";
  }

  void scans_in(const nlohmann::json& plan, const std::string& conditions,
                std::map<std::string, std::string>& scanned) {
    if (reads_all(plan)) {
      const auto schema = plan.value("Schema", "");
      const auto relation = plan.at("Relation Name").get<std::string>();
      const pqxx::result big =
          transaction_.run_once(postgres_sql("is_large"), schema, relation, kSmallTablePages);
      if (!big.empty()) {
        const std::string alias = plan.value("Alias", "");
        const std::string column = sought_column(alias, conditions);
        // Its joins do not matter if it looks for the values that are asked for.
        std::string asked = asked_expression(alias, plan.value("Filter", ""));
        if (asked.empty()) asked = asked_of_join(alias, conditions);
        // The planner reads all of it by choice: the compared columns have an index.
        if (asked.empty() && !column.empty() && has_index(schema, relation, column))
          return scans_below(plan, conditions, scanned);
        const std::string create = "create index on " + std::string(big[0][0].c_str()) + " (";
        scanned.emplace(big[0][0].c_str(), !asked.empty()    ? index_of(create, asked)
                                           : !column.empty() ? create + column + ")"
                                                             : "create an index for it");
      }
    }
    scans_below(plan, conditions, scanned);
  }

  bool has_index(const std::string& schema, const std::string& relation, const std::string& column) {
    return transaction_
        .run_once(
            "select exists (select from pg_index as i join pg_class as c on c.oid = i.indrelid join "
            "pg_namespace as n on n.oid = c.relnamespace join pg_attribute as a on a.attrelid = c.oid and "
            "a.attnum = i.indkey[0] where i.indisvalid and n.nspname = $1 and c.relname = $2 and "
            "quote_ident(a.attname) = $3)",
            schema, relation, column)[0][0]
        .as<bool>();
  }

  void scans_below(const nlohmann::json& plan, const std::string& conditions,
                   std::map<std::string, std::string>& scanned) {
    if (!plan.contains("Plans")) return;
    for (const nlohmann::json& below : plan.at("Plans")) scans_in(below, conditions, scanned);
  }

  // Finds values that a track takes as ids and that never are one, such as a key of which the view makes a
  // text.
  void check_values(const IndexDesign& index) {
    for (const TrackDesign& track : index.tracks) {
      if (!track.resolver_query.empty() || track.of_part) continue;
      const CaptureDesign& capture = design_.captures[track.capture];
      const TableDesign& table = design_.tables.at(track.table);
      const std::string statement =
          fill_placeholders(postgres_sql("compare_values"), {{"expression", capture.expression},
                                                             {"relation", capture.relation},
                                                             {"alias", table.relation.alias},
                                                             {"view", index.view},
                                                             {"id_type", index.id_type}});
      look(index, track.line, "comparing rows of " + track.table + " with view " + index.view,
           {"set local enable_seqscan = on", statement}, [&](const pqxx::result& result) {
             const pqxx::row row = result[0];
             if (row[1].as<int>() > 0 || row[3].as<bool>()) return check_references(index, track);
             if (row[0].as<int>() == 0 || !row[2].as<bool>()) return;
             warn(track.line,
                  std::string("none of ") + row[0].c_str() + " rows of " + track.table +
                      " has a value that is an _id of view " + index.view + ": " + capture.expression,
                  "give the way from its rows to documents with row, column or keys");
           });
    }
  }

  // Finds values that are ids of another table's rows, which may be ids of the view by accident.
  void check_references(const IndexDesign& index, const TrackDesign& track) {
    const CaptureDesign& capture = design_.captures[track.capture];
    const auto id = index.links ? common_origin(*index.links, index.id_column) : std::nullopt;
    if (!id || !describe_relation(transaction_, id->table).is_table()) return;
    const pqxx::result found = transaction_.run_once(postgres_sql("references_elsewhere"),
                                                     design_.tables.at(track.table).relation.oid,
                                                     capture.expression, id->table, id->id_column);
    if (found[0][0].is_null()) return;
    warn(track.line,
         capture.expression + " of " + track.table + " refers to " + found[0][0].c_str() +
             ", and _id of view " + index.view + " is the " + name_of_column(*id),
         "give the way from its rows to documents with row, column or keys");
  }

  std::string name_of_column(const CommonOrigin& origin) {
    const PostgresRelation table = describe_relation(transaction_, origin.table);
    const PostgresColumn* const column = table.column(origin.id_column);
    return (column == nullptr ? std::string("key") : column->quoted) + " of " + table.name;
  }

  PostgresTransaction& transaction_;
  const PipelineDesign& design_;
  std::vector<Finding>& findings_;
};

}  // namespace

void check_documents(PostgresTransaction& transaction, const PipelineDesign& design,
                     std::vector<Finding>& findings) {
  RowChecks(transaction, design, findings).check(RowChecks::Looks::kAtDocuments);
}

void check_rows(PostgresTransaction& transaction, const PipelineDesign& design,
                std::vector<Finding>& findings) {
  RowChecks(transaction, design, findings).check(RowChecks::Looks::kAtEverything);
}

}  // namespace lockstep
