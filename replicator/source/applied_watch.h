// Whether Elasticsearch has everything up to a point in the source's history: for `wait`, whichever process
// leads, on any machine. The watch reads the leader's saves: the acknowledgements of Elasticsearch
// (SourceTransaction::save). It asks Elasticsearch nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// A transaction, by the number that the source gives it. A source that numbers none has none.
struct TransactionId {
  std::uint64_t value = 0;
  bool operator==(const TransactionId&) const = default;
};

/// The transaction that `text` names: a number from 1 on, in digits and nothing else. None for any other
/// text.
std::optional<TransactionId> parse_transaction_id(std::string_view text);

struct AppliedState {
  enum class Kind {
    kApplied,             ///< every document has its outcome
    kPending,             ///< not yet; `reason` has the missing work
    kRolledBack,          ///< the transaction was rolled back
    kUnknownTransaction,  ///< no transaction has this number
  };
  Kind kind = Kind::kPending;
  std::string reason = {};  ///< in words
};

/// An alias with two generations, and the real index that searches should see.
struct SearchedIndex {
  std::string alias;
  std::string index;
  std::string or_index;  ///< the same, or while the alias moves the other one
};

/// One point to wait for. REQUIRES: its watch outlives it; only the watch's thread uses it.
class AppliedPoint {
 public:
  virtual ~AppliedPoint() = default;

  /// Runs a few cheap statements. While the answer is kPending it asks the leader, now and then, to save
  /// acknowledged work at once. Throws Error.
  virtual AppliedState look() = 0;
};

/// A connection, for one thread.
class AppliedWatch {
 public:
  virtual ~AppliedWatch() = default;

  /// The point behind the changes of `transaction`; without one, behind everything that is committed when
  /// this is called. Throws Error.
  virtual std::unique_ptr<AppliedPoint> begin(std::optional<TransactionId> transaction) = 0;

  /// The aliases of the pipeline that have two generations. Throws Error.
  virtual std::vector<SearchedIndex> searched_indices() = 0;

  /// Whether some process leads. Throws Error.
  virtual bool is_led() = 0;
};

}  // namespace lockstep
