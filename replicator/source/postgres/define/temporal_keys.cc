#include "replicator/source/postgres/define/temporal_keys.h"

#include <algorithm>

#include "replicator/source/postgres/catalog/node_tree.h"
#include "replicator/source/postgres/catalog/view_links.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {

TemporalKeys::TemporalKeys(PostgresTransaction& transaction, std::vector<Finding>& findings)
    : transaction_(transaction), findings_(findings) {
  for (const pqxx::row& row : transaction_.run_once(postgres_sql("user_foreign_keys"))) {
    if (!row[4].is_null())
      keys_.push_back({row[0].as<unsigned>(), row[1].as<unsigned>(), row[4].c_str(), row[5].c_str()});
  }
}

void TemporalKeys::check_view(const IndexDesign& index) {
  check_links(index.line, "view " + index.view, index.view_oid, index.id_column);
}

void TemporalKeys::check_links(const std::string& place, const std::string& what, unsigned view, int id) {
  if (keys_.empty()) return;
  ViewLinks links;
  try {
    links = read_links(transaction_, view, id);
  } catch (const NodeTreeError&) {
    return;  // the design reports it
  }
  for (const ViewLink& link : links.links) {
    for (const auto& [some, other] : link.columns)
      check(place, what, {links.tables[link.place], some}, {links.tables[link.other], other});
  }
}

void TemporalKeys::check_track(const TrackDesign& track, const CaptureDesign& capture) {
  if (keys_.empty() || !track.keys.empty()) return;
  std::string why;
  const std::optional<PostgresRelation> table = find_relation(transaction_, track.table, why);
  const auto is_period = [&](const Key& key) {
    return table && ((key.table == table->oid && key.period == capture.expression) ||
                     (key.referenced == table->oid && key.referenced_period == capture.expression));
  };
  if (!std::any_of(keys_.begin(), keys_.end(), is_period)) return;
  findings_.push_back(
      {Finding::Severity::kError, track.line,
       "row: " + capture.expression +
           " is the period of a temporal foreign key, and a track "
           "finds documents by equal values: those of another period that it covers or overlaps "
           "are missed",
       "take the other columns of the key, which are equal, or write keys that compare by &&"});
}

void TemporalKeys::check_keys(const TrackDesign& track, unsigned query) {
  check_links(track.line, "keys: the query", query, 1);
}

void TemporalKeys::check(const std::string& place, const std::string& what, RelationColumn some,
                         RelationColumn other) {
  for (const Key& key : keys_) {
    if (!compares(key, some, other) && !compares(key, other, some)) continue;
    const std::string period = describe_relation(transaction_, key.table).name + "." + key.period;
    const std::string referenced =
        describe_relation(transaction_, key.referenced).name + "." + key.referenced_period;
    Finding finding{Finding::Severity::kError, place,
                    what + " compares " + referenced + " with " + period +
                        " by =, and their foreign key is temporal: a row of the one is valid for a part of "
                        "the other's period, or for more than it, so that equal ones are an exception",
                    "compare by containment, " + referenced + " @> " + period + ", or by " + referenced +
                        " && " + period + ", which finds all rows that are valid meanwhile"};
    const auto is_known = [&](const Finding& known) {
      return known.place == finding.place && known.message == finding.message;
    };
    if (std::none_of(findings_.begin(), findings_.end(), is_known)) findings_.push_back(std::move(finding));
  }
}

bool TemporalKeys::compares(const Key& key, RelationColumn some, RelationColumn other) {
  return name_of(some, key.table) == key.period && name_of(other, key.referenced) == key.referenced_period;
}

std::optional<std::string> TemporalKeys::name_of(RelationColumn column, unsigned whole) {
  const pqxx::result root = transaction_.run(postgres_sql("whole_table"), column.relation);
  if (root.empty() || root[0][0].is_null() || root[0][0].as<unsigned>() != whole) return std::nullopt;
  const PostgresRelation relation = describe_relation(transaction_, column.relation);
  const PostgresColumn* const found = relation.column(column.number);
  return found == nullptr ? std::nullopt : std::optional(found->quoted);
}

}  // namespace lockstep
