// Renders many documents on several connections at once, in one snapshot. PostgreSQL works for a connection
// on one core, however many it has.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

/// Runs `statement` with `max_bytes` as $1 and `ids` as $2. Throws PostgresError.
pqxx::result render_by_ids(PostgresTransaction& transaction, const Doing& doing, const std::string& statement,
                           const DocumentIds& ids, std::int64_t max_bytes);

/// For one thread at a time, apart from cancel_statements().
///
/// Each further connection takes the exported snapshot of the transaction, so its documents are those that
/// the transaction would have rendered (S2). They only help: documents that one of them cannot render, for
/// any reason, the transaction renders itself.
class SharedRendering {
 public:
  /// `source.render_connections` - 1 further connections, made when there is work for them. `purpose` as of
  /// PostgresSession.
  SharedRendering(const SourceConfig& source, const std::string& purpose);
  ~SharedRendering();

  /// As render_by_ids(), for documents of `index`: the rows of all parts. When there is much to render, each
  /// part has its share of `ids`, and of `max_bytes`. Throws PostgresError.
  std::vector<pqxx::result> render(PostgresTransaction& transaction, const Doing& doing, IndexId index,
                                   const std::string& statement, const DocumentIds& ids,
                                   std::int64_t max_bytes);

  /// Cancels the statements on the further connections, from any thread: render() throws.
  void cancel_statements();

 private:
  class Helper;
  struct Part;

  /// At most so many as are worth it and ready, none for rendering alone.
  std::vector<Helper*> helpers_for(IndexId index, std::size_t documents);
  std::vector<pqxx::result> render_with(const std::vector<Helper*>& helpers, PostgresTransaction& transaction,
                                        const Doing& doing, const std::string& statement, DocumentIds ids,
                                        std::int64_t max_bytes);

  std::vector<std::unique_ptr<Helper>> helpers_;
  std::map<IndexId, std::chrono::duration<double>>
      of_a_document_;  // on one connection, as the last ones took
};

}  // namespace lockstep
