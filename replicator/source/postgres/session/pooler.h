// Poolers between Lockstep and PostgreSQL. In transaction mode each transaction may run in another backend:
// settings leak to strangers, prepared statements are not found again, and an advisory lock has no lasting
// owner.
#pragma once

#include <functional>
#include <memory>
#include <pqxx/pqxx>

namespace lockstep {

/// Throws UsageError if a pooler gives `connection` a backend for each transaction only (PgBouncer's
/// pool_mode = transaction or statement). One in session mode is as good as none. `connect` opens another
/// connection of the same kind; it is called only when there is a pooler. Sends nothing that would outlive a
/// transaction.
void require_own_backend(pqxx::connection& connection,
                         const std::function<std::unique_ptr<pqxx::connection>()>& connect);

}  // namespace lockstep
