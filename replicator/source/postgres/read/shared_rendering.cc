#include "replicator/source/postgres/read/shared_rendering.h"

#include <algorithm>
#include <future>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/side_session.h"

namespace lockstep {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using namespace std::chrono_literals;

// A prepared statement's generic plan expects ten ids. For fewer PostgreSQL would make a plan each time,
// which takes longer than rendering them, so the last one is repeated; more than this deserve a plan of their
// own.
constexpr std::size_t kIdsOfGenericPlan = 10;
constexpr std::size_t kMostIdsForGenericPlan = 50;

// A part is worth a snapshot to export and to take, and a thread.
constexpr Seconds kPart = 4ms;

// Of a rendering: for planning it and for its way, however few documents it has.
constexpr Seconds kOverhead = 1ms;

constexpr std::chrono::seconds kConnectAgain{5};

// A cancellation that came too early for the statement is asked for again.
constexpr std::chrono::milliseconds kCancelAgain{100};

// A helper may wait for a lock behind an "alter table", which waits for our own transaction, which waits for
// the helper: PostgreSQL does not see this circle. Its own parallel workers share their leader's locks
// instead.
constexpr const char* kShortLockLimit = "; set local lock_timeout = '50ms'";

struct ExportedSnapshot {
  std::string name;
  std::string text;  // the visible transactions: another server may give the same name to another snapshot
};

ExportedSnapshot export_snapshot(PostgresTransaction& transaction) {
  const pqxx::row row = transaction.run(Doing("exporting a snapshot"),
                                        "select pg_export_snapshot(), pg_current_snapshot()::text")[0];
  return {row[0].c_str(), row[1].c_str()};
}

bool is_over(const std::future<pqxx::result>& rows) {
  return rows.wait_for(0s) == std::future_status::ready;
}

}  // namespace

pqxx::result render_by_ids(PostgresTransaction& transaction, const Doing& doing, const std::string& statement,
                           const DocumentIds& ids, std::int64_t max_bytes) {
  if (ids.size() > kMostIdsForGenericPlan)
    return transaction.run_once(doing, statement, max_bytes, ids_literal(ids));
  DocumentIds wanted = ids;
  if (!ids.empty()) wanted.resize(std::max(ids.size(), kIdsOfGenericPlan), ids.back());
  return transaction.run_filled(doing, statement, max_bytes, ids_literal(wanted));
}

// --- Helper ---

/// A further connection.
class SharedRendering::Helper {
 public:
  Helper(const SourceConfig& source, const std::string& purpose) : session_(source, purpose) {}

  /// Whether it is connected. When it is not, begins to connect, now and then.
  bool is_ready() {
    if (connecting_.valid() && connecting_.wait_for(0s) != std::future_status::ready) return false;
    if (connecting_.valid()) is_connected_ = connecting_.get();
    if (!is_connected_ && SteadyClock::now() >= connects_again_at_) {
      connects_again_at_ = SteadyClock::now() + kConnectAgain;
      connecting_ = std::async(std::launch::async, [this] { return connects(); });
    }
    return is_connected_;
  }

  /// As render_by_ids(), in the snapshot of another transaction. Throws Error.
  pqxx::result render(const ExportedSnapshot& snapshot, const Doing& doing, const std::string& statement,
                      const DocumentIds& ids, std::int64_t max_bytes) {
    PostgresTransaction transaction(session_.session(), doing.what, Isolation::kRepeatableReadOnly);
    const pqxx::result seen =
        transaction.execute("set transaction snapshot " + transaction.quote(snapshot.name) + kShortLockLimit +
                            "; select pg_current_snapshot()::text");
    if (seen[0][0].c_str() != snapshot.text)
      throw Error({doing.what, "a second connection has another snapshot of this name"});
    return render_by_ids(transaction, doing, statement, ids, max_bytes);
  }

  void cancel() { session_.cancel_statement(); }

  /// It could not render: it reconnects before it tries again.
  void has_failed() { is_connected_ = false; }

 private:
  // Also finds out whether snapshots may be exported; here a refusal ends no transaction of others.
  bool connects() {
    try {
      PostgresTransaction transaction(session_.session(), "connecting for rendering",
                                      Isolation::kRepeatableReadOnly);
      export_snapshot(transaction);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  PostgresSideSession session_;
  bool is_connected_ = false;
  SteadyClock::time_point connects_again_at_;
  std::future<bool> connecting_;  // the last member: its thread uses the others
};

// --- SharedRendering ---

/// The part that one helper renders. Its end cancels that and waits for it.
struct SharedRendering::Part {
  Helper* helper;
  DocumentIds ids;
  std::future<pqxx::result> rows;

  Part(Helper* by, DocumentIds its_ids) : helper(by), ids(std::move(its_ids)) {}
  Part(Part&&) = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  Part& operator=(Part&&) = delete;
  ~Part() {
    while (rows.valid() && !is_over(rows)) {
      helper->cancel();
      rows.wait_for(kCancelAgain);
    }
  }
};

SharedRendering::SharedRendering(const SourceConfig& source, const std::string& purpose) {
  for (std::int64_t i = 1; i < source.render_connections; ++i)
    helpers_.push_back(std::make_unique<Helper>(source, purpose));
}

SharedRendering::~SharedRendering() = default;

void SharedRendering::cancel_statements() {
  for (const std::unique_ptr<Helper>& helper : helpers_) helper->cancel();
}

std::vector<SharedRendering::Helper*> SharedRendering::helpers_for(IndexId index, std::size_t documents) {
  std::vector<Helper*> ready;
  const auto known = of_a_document_.find(index);
  if (known == of_a_document_.end()) return ready;
  const double parts =
      std::min(known->second * static_cast<double>(documents) / kPart, static_cast<double>(documents));
  for (const std::unique_ptr<Helper>& helper : helpers_) {
    if (static_cast<double>(ready.size()) + 2 > parts) break;
    if (helper->is_ready()) ready.push_back(helper.get());
  }
  return ready;
}

std::vector<pqxx::result> SharedRendering::render(PostgresTransaction& transaction, const Doing& doing,
                                                  IndexId index, const std::string& statement,
                                                  const DocumentIds& ids, std::int64_t max_bytes) {
  const std::vector<Helper*> helpers = helpers_for(index, ids.size());
  const SteadyClock::time_point begin = SteadyClock::now();
  std::vector<pqxx::result> rows;
  if (helpers.empty()) {
    rows.push_back(render_by_ids(transaction, doing, statement, ids, max_bytes));
  } else {
    rows = render_with(helpers, transaction, doing, statement, ids, max_bytes);
  }
  if (!ids.empty()) {
    const Seconds took = std::max<Seconds>(SteadyClock::now() - begin - kOverhead, 0s);
    of_a_document_[index] = took * static_cast<double>(helpers.size() + 1) / static_cast<double>(ids.size());
  }
  return rows;
}

std::vector<pqxx::result> SharedRendering::render_with(const std::vector<Helper*>& helpers,
                                                       PostgresTransaction& transaction, const Doing& doing,
                                                       const std::string& statement, DocumentIds ids,
                                                       std::int64_t max_bytes) {
  // An id in two parts would look like two rows of one id.
  if (!std::is_sorted(ids.begin(), ids.end())) std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  const ExportedSnapshot snapshot = export_snapshot(transaction);
  const auto count = helpers.size() + 1;
  const auto bytes = std::max<std::int64_t>(1, max_bytes / static_cast<std::int64_t>(count));
  const auto cut = [&](std::size_t part) {
    return ids.begin() + static_cast<std::ptrdiff_t>(ids.size() * part / count);
  };
  std::vector<Part> parts;
  parts.reserve(helpers.size());  // the threads use them in place
  for (std::size_t i = 0; i < helpers.size(); ++i) {
    Part& part = parts.emplace_back(helpers[i], DocumentIds(cut(i + 1), cut(i + 2)));
    part.rows = std::async(std::launch::async, [&snapshot, &doing, &statement, &part, bytes] {
      return part.helper->render(snapshot, doing, statement, part.ids, bytes);
    });
  }
  std::vector<pqxx::result> rows;
  rows.push_back(render_by_ids(transaction, doing, statement, DocumentIds(cut(0), cut(1)), bytes));
  for (Part& part : parts) {
    try {
      rows.push_back(part.rows.get());
      continue;
    } catch (const PostgresError& error) {
      if (error.sqlstate() == sqlstate::kQueryCanceled) throw;  // the canceller wants no more of it
      part.helper->has_failed();
    } catch (const Error&) {
      part.helper->has_failed();
    }
    rows.push_back(render_by_ids(transaction, doing, statement, part.ids, bytes));
  }
  return rows;
}

}  // namespace lockstep
