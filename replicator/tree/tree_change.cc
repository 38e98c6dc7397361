#include "replicator/tree/tree_change.h"

#include "replicator/locks/backends/elasticsearch/lock_scripts.h"
#include "replicator/tree/tree_query.h"

namespace lockstep {

using nlohmann::json;

json TreeChange::query() const {
  return tree_query::at_or_below(from());
}

void TreeChange::add_to(BulkCall& bulk, const TreeDocument& document, FencingToken token) const {
  if (!intent_.to) {
    bulk.add("delete", document.id, bulk_condition(document), nullptr);
    return;
  }
  const TreePlace place = moved(document, from(), *intent_.to);
  bulk.add("update", document.id, bulk_condition(document),
           {{"doc", {{"path", place.path}, {"name", place.name}, {"fence", token}}}});
}

json TreeChange::task(FencingToken token) const {
  json parameters = {{"from", from().text()},
                     {"from_directory", from().directory()},
                     {"from_name", from().name()},
                     {"to", nullptr},
                     {"token", token}};
  if (intent_.to) {
    parameters["to"] = intent_.to->text();
    parameters["to_directory"] = intent_.to->directory();
    parameters["to_name"] = intent_.to->name();
  }
  return {{"query", query()}, {"script", {{"id", script_id::kTreeChange}, {"params", parameters}}}};
}

TreePlace moved(const TreeDocument& document, const TreePath& from, const TreePath& to) {
  if (document.is_at(from)) return {to.directory(), to.name()};
  return {to.text() + document.path.substr(from.text().size()), document.name};
}

json bulk_condition(const TreeDocument& document) {
  json condition = {{"if_seq_no", document.sequence_number}, {"if_primary_term", document.primary_term}};
  if (!document.routing.empty()) condition["routing"] = document.routing;
  return condition;
}

}  // namespace lockstep
