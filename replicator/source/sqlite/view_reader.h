// The views of a configuration over a connection to a SQLite file, whether they are applied or not.
#pragma once

#include <memory>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/session/connection.h"
#include "replicator/source/view_reader.h"

namespace lockstep {

class SqliteViewReader final : public ViewReader {
 public:
  /// As open_view_reader().
  explicit SqliteViewReader(const Config& config);

  const std::vector<AppliedIndex>& indices() const override { return pipeline_.applied.indices; }
  std::unique_ptr<SourceSnapshot> read() override;

 private:
  SqliteConnection connection_;
  SqlitePipeline pipeline_;  // of the configuration; without tracks
};

}  // namespace lockstep
