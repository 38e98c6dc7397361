// Whether Elasticsearch has everything up to a point in the source's history: for `wait`, whoever leads the
// pipeline, wherever. What is asked is what the leader has saved, which only says what was acknowledged
// (source.h, Source::save); nothing is asked of Elasticsearch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "replicator/config/config.h"

namespace lockstep {

/// A transaction, as `select pg_current_xact_id()` inside it says.
struct TransactionId {
  std::uint64_t value = 0;
  bool operator==(const TransactionId&) const = default;
};

/// Digits and nothing else, from 1 on; none for anything else.
std::optional<TransactionId> parse_transaction_id(std::string_view text);

struct AppliedState {
  enum class Kind {
    kApplied,             ///< every document has its outcome
    kPending,             ///< not yet; `reason` says what for
    kRolledBack,          ///< the transaction never will be
    kUnknownTransaction,  ///< no transaction has had this number
  };
  Kind kind = Kind::kPending;
  std::string reason = {};  ///< in words
};

/// One point that is waited for. For the thread of its watch, which it must not outlive.
class AppliedPoint {
 public:
  virtual ~AppliedPoint() = default;

  /// A few cheap statements. While the answer is kPending the leader is asked, now and then, to save at once
  /// what is acknowledged. Throws Error.
  virtual AppliedState look() = 0;
};

/// A connection, for one thread.
class AppliedWatch {
 public:
  virtual ~AppliedWatch() = default;

  /// With a transaction: its changes. Without: everything that is committed when this is called. Throws
  /// Error.
  virtual std::unique_ptr<AppliedPoint> begin(std::optional<TransactionId> transaction) = 0;

  /// Whether some process has the lead.
  virtual bool is_led() = 0;
};

/// Connects. Throws Error, UsageError when the pipeline has not been applied.
std::unique_ptr<AppliedWatch> open_applied_watch(const Config& config);

}  // namespace lockstep
