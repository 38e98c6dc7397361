#include "replicator/source/postgres/view_reader.h"

#include <utility>

#include "replicator/error.h"
#include "replicator/source/postgres/define/design.h"
#include "replicator/source/postgres/define/trust.h"
#include "replicator/source/postgres/read/snapshot.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {
namespace {

PostgresIndex index_of(const IndexDesign& design, IndexId id) {
  PostgresIndex index;
  index.id = id;
  index.alias = design.alias;
  index.view = design.view;
  index.id_type = design.id_type;
  index.routed = design.routed;
  index.fields = design.fields;
  return index;
}

}  // namespace

PostgresViewReader::PostgresViewReader(const Config& config)
    : session_(config.source, config.pipeline + " views") {
  PostgresTransaction transaction(session_, "looking for the views");
  // Reading a view would lend the rights of this session to its owner.
  const std::vector<LentRight> lent = lent_rights(transaction, config);
  if (!lent.empty()) throw UsageError(to_line(to_finding(lent, config)));
  const PipelineDesign design = design_pipeline(transaction, config, config.indices);
  require_no_errors(design.findings);
  pipeline_.applied.name = config.pipeline;
  for (const IndexDesign& each : design.indices) {
    const IndexId id{static_cast<int>(pipeline_.indices.size()) + 1};
    pipeline_.indices.push_back(index_of(each, id));
    pipeline_.applied.indices.push_back(
        {.id = id, .alias = each.alias, .view = each.view, .routed = each.routed});
  }
}

std::unique_ptr<SourceSnapshot> PostgresViewReader::read() {
  return std::make_unique<PostgresSourceSnapshot>(session_, pipeline_);
}

}  // namespace lockstep
