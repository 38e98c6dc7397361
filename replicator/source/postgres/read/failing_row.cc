#include "replicator/source/postgres/read/failing_row.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

#include "replicator/clock.h"
#include "replicator/one_line.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {
namespace {

// Other indices wait meanwhile.
constexpr std::chrono::milliseconds kSearchTime{1'000};

/// Each question needs a transaction of its own, since a failure ends it.
class Search {
 public:
  Search(PostgresSession& session, const std::string& statement)
      : session_(session), statement_(statement), until_(std::chrono::steady_clock::now() + kSearchTime) {}

  // Whether documents of these ids cannot be rendered. Throws PostgresError, a retryable one, also if the
  // time is over.
  bool fails(const DocumentIds& ids) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until_ - std::chrono::steady_clock::now());
    PostgresTransaction transaction(session_, "looking for a row that fails", Isolation::kRepeatableReadOnly);
    transaction.execute("set local statement_timeout = " +
                        std::to_string(std::max(left, std::chrono::milliseconds(1)).count()));
    try {
      transaction.run_once(statement_, 0, ids_literal(ids));
      return false;
    } catch (const PostgresError& error) {
      if (error.retryable()) throw;
      return true;
    }
  }

  // By halves. None: they can be rendered, or no row is to blame.
  std::optional<DocumentId> find(DocumentIds ids) {
    if (ids.empty() || !fails(ids) || fails({})) return std::nullopt;
    while (ids.size() > 1) {
      const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(ids.size() / 2);
      DocumentIds first(ids.begin(), middle);
      if (fails(first)) {
        ids = std::move(first);
      } else {
        ids.erase(ids.begin(), middle);
      }
    }
    return ids.front();
  }

 private:
  PostgresSession& session_;
  const std::string& statement_;
  const SteadyTime until_;
};

}  // namespace

ViewError naming_failing_row(PostgresSession& session, const PostgresIndex& index,
                             const std::string& statement, const DocumentIds& ids, const ViewError& error) {
  std::optional<DocumentId> failing;
  try {
    failing = Search(session, statement).find(ids);
  } catch (const PostgresError&) {
    // The view's own error is enough, and if the database does not answer now the next reading reports it.
  }
  if (!failing) return error;
  Error::Parts parts = error.parts();
  parts.cause += ", in the row whose _id is \"" + in_one_line(failing->text) + "\"";
  if (parts.remedy.empty()) parts.remedy = "correct this row, or let the view take it";
  return {parts, index.id};
}

}  // namespace lockstep
