#include "replicator/pipeline/jobs/comparison.h"

#include <utility>

#include "replicator/elasticsearch/admin/ingest_pipelines.h"

namespace lockstep {

void Comparison::look_ahead(const LookAhead& ask, const PageLimits& limits) {
  if (!different_.rendered()) return;
  const RenderedSize::Order order = size_.order(static_cast<std::size_t>(limits.bytes), limits.documents);
  const ViewPage page =
      read_view_page(*ask.read(), index(), last_document(), order.documents, order.json_bytes);
  StepSize read{page.documents.size()};
  for (const std::string& json : page.json) read.json_bytes += json.size();
  read.bytes = read.json_bytes;
  size_.came({}, read);
  if (!compared_) compared_ = compared_through(ingest_pipelines_of(ask.elasticsearch, index().target()));
  DocumentIds ids;
  for (FoundDocument& document : find_different(ask.elasticsearch, index(), page, *compared_))
    ids.push_back(std::move(document.id));
  different_.take(std::move(ids), page.last ? AfterDocument{*page.last} : position(), page.end);
  documents_ = static_cast<std::int64_t>(page.documents.size());
}

std::int64_t Comparison::read(SourceTransaction& transaction, StepDocuments& documents,
                              const PageLimits& limits) {
  different_.render(transaction, index(), documents, limits.bytes);
  if (different_.rendered()) {
    move_to(different_.behind());
    if (different_.is_last()) finish_reading();
  }
  return std::exchange(documents_, 0);
}

}  // namespace lockstep
