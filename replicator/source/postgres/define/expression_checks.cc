#include "replicator/source/postgres/define/expression_checks.h"

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "replicator/listed.h"
#include "replicator/source/postgres/catalog/view_reads.h"
#include "replicator/source/postgres/define/probe.h"
#include "replicator/source/postgres/define/resolver.h"
#include "replicator/source/postgres/define/temporal_keys.h"
#include "replicator/source/postgres/session/array.h"

namespace lockstep {
namespace {

// Functions of the application that PostgreSQL calls again for the same arguments.
std::set<std::string> not_immutable(PostgresTransaction& transaction, const ViewReads& reads) {
  std::vector<std::string> oids;
  for (const unsigned function : reads.functions) oids.push_back(std::to_string(function));
  std::set<std::string> names;
  for (const pqxx::row& row : transaction.run_once("select p.oid::regprocedure::text from pg_proc as p where "
                                                   "p.oid = any($1::oid[]) and p.provolatile "
                                                   "<> 'i'",
                                                   array_literal(oids)))
    names.insert(row[0].c_str());
  return names;
}

void check_row(PostgresTransaction& transaction, const TrackDesign& track, const PipelineDesign& design,
               std::vector<Finding>& findings) {
  const CaptureDesign& capture = design.captures[track.capture];
  const PostgresRelation& table = design.tables.at(track.table).relation;
  const auto reads = reads_of_query(transaction, "select (" + capture.expression + "\n) as value from only " +
                                                     table.name + " as " + table.alias);
  if (!reads) return;
  std::set<std::string> others = not_immutable(transaction, *reads);
  others.insert(reads->environment.begin(), reads->environment.end());
  for (const auto& [oid, read] : reads->tables) {
    if (oid != table.oid) others.insert("table " + read.name);
  }
  if (others.empty()) return;
  findings.push_back(
      {Finding::Severity::kWarning, track.line,
       "row: " + capture.expression + " depends on more than the changed row: " + listed(others) +
           "; the trigger takes its value when the row changes, and the view may have another one later",
       "declare functions immutable that are (alter function … immutable), or let keys = \"select …\" look "
       "into "
       "tables"});
}

void check_keys(PostgresTransaction& transaction, const TrackDesign& track, const PipelineDesign& design,
                TemporalKeys& temporal, std::vector<Finding>& findings) {
  const std::string values = "(null::" + design.captures[track.capture].value_type + "[])";
  std::optional<ViewReads> reads;
  ask_of_query(transaction, with_values(without_semicolon(track.keys), values), [&](unsigned query) {
    reads = read_view(transaction, query);
    temporal.check_keys(track, query);
  });
  if (!reads) return;
  std::set<std::string> others = reads->volatile_functions;
  others.insert(reads->environment.begin(), reads->environment.end());
  if (others.empty()) return;
  findings.push_back({Finding::Severity::kWarning, track.line,
                      "keys: the query depends on more than rows: " + listed(others) +
                          "; which documents it finds may be others later",
                      "select by columns of tables alone"});
}

}  // namespace

void check_expressions(PostgresTransaction& transaction, const PipelineDesign& design,
                       std::vector<Finding>& findings) {
  TemporalKeys temporal(transaction, findings);
  for (const IndexDesign& index : design.indices) {
    temporal.check_view(index);
    for (const TrackDesign& track : index.tracks) {
      temporal.check_track(track, design.captures[track.capture]);
      if (design.captures[track.capture].is_expression) check_row(transaction, track, design, findings);
      if (!track.keys.empty()) check_keys(transaction, track, design, temporal, findings);
    }
  }
}

}  // namespace lockstep
