#include "replicator/tree/tree_change.h"

#include "replicator/locks/backends/elasticsearch/lock_scripts.h"
#include "replicator/tree/tree_query.h"

namespace lockstep {

using nlohmann::json;

TreeChange::TreeChange(const OperationIntent& intent) : from_(intent.from) {
  if (intent.kind == "mv") to_.emplace(intent.to);
}

json TreeChange::query() const {
  return tree_query::at_or_below(from_);
}

void TreeChange::add_to(BulkCall& bulk, const TreeDocument& document, FencingToken token) const {
  if (!to_) {
    bulk.add("delete", document.id, bulk_condition(document), nullptr);
    return;
  }
  const TreePlace place = moved(document, from_, *to_);
  bulk.add("update", document.id, bulk_condition(document),
           {{"doc", {{"path", place.path}, {"name", place.name}, {"fence", token}}}});
}

TreeChange::Task TreeChange::task(FencingToken token) const {
  if (!to_) return {"_delete_by_query", {{"query", tree_query::up_to_fence(query(), token)}}};
  return {"_update_by_query",
          {{"query", query()},
           {"script",
            {{"id", script_id::kTreeMove},
             {"params",
              {{"from", from_.text()},
               {"from_directory", from_.directory()},
               {"from_name", from_.name()},
               {"to", to_->text()},
               {"to_directory", to_->directory()},
               {"to_name", to_->name()},
               {"token", token}}}}}}};
}

TreePlace moved(const TreeDocument& document, const TreePath& from, const TreePath& to) {
  const bool itself = document.path == from.directory() && document.name == from.name();
  if (itself) return {to.directory(), to.name()};
  return {to.text() + document.path.substr(from.text().size()), document.name};
}

json bulk_condition(const TreeDocument& document) {
  json condition = {{"if_seq_no", document.sequence_number}, {"if_primary_term", document.primary_term}};
  if (!document.routing.empty()) condition["routing"] = document.routing;
  return condition;
}

}  // namespace lockstep
