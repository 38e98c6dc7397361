#include "replicator/source/applied_watch.h"

#include <charconv>

namespace lockstep {

std::optional<TransactionId> parse_transaction_id(std::string_view text) {
  TransactionId id;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id.value);
  if (error != std::errc{} || end != text.data() + text.size() || id.value == 0) return std::nullopt;
  return id;
}

}  // namespace lockstep
