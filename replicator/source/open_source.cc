#include "replicator/source/open_source.h"

#include "replicator/error.h"
#include "replicator/source/postgres/read/source.h"

namespace lockstep {

std::unique_ptr<Source> open_source(const Config& config, const std::string& purpose) {
  if (config.source.kind == SourceConfig::Kind::kSqlite) {
    throw UsageError("source.url: this build replicates from PostgreSQL only; use a postgresql:// url");
  }
  return std::make_unique<PostgresSource>(config, purpose);
}

}  // namespace lockstep
