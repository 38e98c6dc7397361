#include "replicator/source/postgres/session/encoding.h"

#include <algorithm>
#include <cstddef>

#include "replicator/source/postgres/session/array.h"

namespace lockstep {
namespace {

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// PostgreSQL has no question for it: either it takes a parameter, or the statement fails.
bool takes(PostgresTransaction& transaction, const std::vector<std::string>& texts) {
  bool taken = true;
  transaction.run_once("savepoint texts");
  try {
    transaction.run_once("select $1::text[]", array_literal(texts));
  } catch (const PostgresError& error) {
    if (error.sqlstate() != sqlstate::kUntranslatable && error.sqlstate() != sqlstate::kNotInRepertoire)
      throw;
    taken = false;
  }
  transaction.run_once("rollback to savepoint texts");
  transaction.run_once("release savepoint texts");
  return taken;
}

// By halves, since most pages have few of these texts, or none.
void ask(PostgresTransaction& transaction, const std::vector<std::string>& texts,
         const std::vector<std::size_t>& positions, std::vector<bool>& held) {
  if (positions.empty()) return;
  std::vector<std::string> part;
  for (const std::size_t position : positions) part.push_back(texts[position]);
  if (takes(transaction, part)) return;
  if (positions.size() == 1) {
    held[positions[0]] = false;
    return;
  }
  const auto middle = positions.begin() + static_cast<std::ptrdiff_t>(positions.size() / 2);
  ask(transaction, texts, {positions.begin(), middle}, held);
  ask(transaction, texts, {middle, positions.end()}, held);
}

}  // namespace

std::vector<bool> can_be_held(PostgresTransaction& transaction, const std::vector<std::string>& texts) {
  std::vector<bool> held(texts.size(), true);
  std::vector<std::size_t> in_doubt;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].find('\0') != std::string::npos) {
      held[i] = false;
    } else if (!transaction.session().stores_utf8() && !is_ascii(texts[i])) {
      in_doubt.push_back(i);
    }
  }
  ask(transaction, texts, in_doubt, held);
  return held;
}

}  // namespace lockstep
