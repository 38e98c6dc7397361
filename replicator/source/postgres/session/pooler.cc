#include "replicator/source/postgres/session/pooler.h"

#include "replicator/error.h"

namespace lockstep {
namespace {

// Other clients of the pool may take a backend between two of our transactions.
constexpr int kLooks = 3;

int backend_of(pqxx::connection& connection) {
  pqxx::nontransaction direct(connection);
  return direct.exec1("select pg_catalog.pg_backend_pid()")[0].as<int>();
}

// Whether a statement of `other` runs in the backend of `one`, or the next one of `one` in another.
// Statements without a transaction: a pool in statement mode ends the connection at a `begin`.
bool share_backends(pqxx::connection& one, pqxx::connection& other) {
  const int first = backend_of(one);
  return backend_of(other) == first || backend_of(one) != first;
}

}  // namespace

void require_own_backend(pqxx::connection& connection,
                         const std::function<std::unique_ptr<pqxx::connection>()>& connect) {
  // A pooler reports a number of its own to its clients.
  if (connection.backendpid() == backend_of(connection)) return;
  const std::unique_ptr<pqxx::connection> other = connect();
  for (int look = 0; look < kLooks; ++look) {
    if (!share_backends(connection, *other)) continue;
    throw UsageError(
        "source.url leads to a pooler that changes the server's backend between transactions "
        "(PgBouncer's pool_mode = transaction or statement); connect to PostgreSQL itself, or to a pool with "
        "pool_mode = session");
  }
}

}  // namespace lockstep
