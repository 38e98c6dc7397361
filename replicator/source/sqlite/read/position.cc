#include "replicator/source/sqlite/read/position.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

Position position_at(std::int64_t id) {
  return {std::to_string(id)};
}

std::int64_t id_of(const Position& position) {
  if (const std::optional<std::int64_t> id = number_of(position.text)) return *id;
  throw unfit_value("a position", "text", "\"" + position.text + "\"", "the id of a row of the outbox");
}

LargeTransaction SqliteRows::to_transaction() const {
  return {std::to_string(behind) + " " + std::to_string(up_to)};
}

SqliteRows SqliteRows::from(const LargeTransaction& transaction) {
  const std::string_view text = transaction.text;
  const std::size_t space = text.find(' ');
  if (space != std::string_view::npos) {
    const std::optional<std::int64_t> behind = number_of(text.substr(0, space));
    const std::optional<std::int64_t> up_to = number_of(text.substr(space + 1));
    if (behind && up_to) return {*behind, *up_to};
  }
  throw unfit_value("a large change", "text", "\"" + transaction.text + "\"",
                    "two ids of rows of the outbox");
}

}  // namespace lockstep
