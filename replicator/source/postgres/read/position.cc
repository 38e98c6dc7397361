#include "replicator/source/postgres/read/position.h"

#include <algorithm>
#include <charconv>

#include "replicator/error.h"

namespace lockstep {
namespace {

template <typename Number>
Number parse_number(std::string_view text, std::string_view whole) {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) {
    throw Error({"reading a snapshot or position", "\"" + std::string(whole) + "\" is none",
                 "it was changed by hand; run `lockstep remove` and `lockstep apply` to "
                 "start over"});
  }
  return value;
}

std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view head = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return head;
}

}  // namespace

PostgresSnapshot::PostgresSnapshot(std::string_view text) : text_(text) {
  std::string_view rest = text;
  xmin_ = parse_number<std::uint64_t>(take_until(rest, ':'), text);
  xmax_ = parse_number<std::uint64_t>(take_until(rest, ':'), text);
  while (!rest.empty()) running_.push_back(parse_number<std::uint64_t>(take_until(rest, ','), text));
  std::sort(running_.begin(), running_.end());
}

bool PostgresSnapshot::sees(std::uint64_t txid) const {
  if (txid < xmin_) return true;
  if (txid >= xmax_) return false;
  return !std::binary_search(running_.begin(), running_.end(), txid);
}

std::vector<std::uint64_t> PostgresSnapshot::finished_in(const PostgresSnapshot& later) const {
  std::vector<std::uint64_t> finished;
  std::copy_if(running_.begin(), running_.end(), std::back_inserter(finished),
               [&](std::uint64_t txid) { return later.sees(txid); });
  return finished;
}

Position PostgresPosition::to_position() const {
  return Position{prev + "/" + cur + "/" + std::to_string(last_txid) + "/" + std::to_string(last_id)};
}

PostgresPosition PostgresPosition::from(const Position& position) {
  std::string_view rest = position.text;
  PostgresPosition parsed;
  parsed.prev = take_until(rest, '/');
  parsed.cur = take_until(rest, '/');
  parsed.last_txid = parse_number<std::uint64_t>(take_until(rest, '/'), position.text);
  parsed.last_id = parse_number<std::int64_t>(rest, position.text);
  return parsed;
}

LargeTransaction PostgresLargeTransaction::to_large_transaction() const {
  return {std::to_string(txid) + "/" + std::to_string(after)};
}

PostgresLargeTransaction PostgresLargeTransaction::from(const LargeTransaction& transaction) {
  std::string_view rest = transaction.text;
  PostgresLargeTransaction parsed;
  parsed.txid = parse_number<std::uint64_t>(take_until(rest, '/'), transaction.text);
  parsed.after = parse_number<std::int64_t>(rest, transaction.text);
  return parsed;
}

}  // namespace lockstep
