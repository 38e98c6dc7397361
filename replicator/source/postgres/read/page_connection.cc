#include "replicator/source/postgres/read/page_connection.h"

#include "replicator/source/postgres/read/transaction.h"

namespace lockstep {

std::unique_ptr<SourceTransaction> PostgresPageConnection::begin(Epoch epoch) {
  return std::make_unique<PostgresSourceTransaction>(session_.session(), pipeline_, epoch, &sharing_);
}

}  // namespace lockstep
