// The views of a configuration over a connection to PostgreSQL, whether they are applied or not.
#pragma once

#include <memory>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/session.h"
#include "replicator/source/view_reader.h"

namespace lockstep {

class PostgresViewReader final : public ViewReader {
 public:
  /// As open_view_reader().
  explicit PostgresViewReader(const Config& config);

  const std::vector<AppliedIndex>& indices() const override { return pipeline_.applied.indices; }
  std::unique_ptr<SourceSnapshot> read() override;

 private:
  PostgresSession session_;
  PostgresPipeline pipeline_;  // of the configuration; without tracks
};

}  // namespace lockstep
