// lockstep.dead_letter for people: looking through what Elasticsearch refused, and forgetting it. The leader
// writes and clears dead letters in the transaction of its checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replicator/source/postgres/session/session.h"
#include "replicator/source/source.h"

namespace lockstep {

/// The functions of Source of the same meaning; they throw Error.
class PostgresDeadLetters {
 public:
  /// `session` must outlive this.
  explicit PostgresDeadLetters(PostgresSession& session) : session_(session) {}

  std::vector<StoredDeadLetter> find(const DeadLetterFilter& filter, const std::optional<DeadLetter>& after,
                                     std::int64_t limit);
  std::int64_t count(const DeadLetterFilter& filter);
  std::int64_t discard(const DeadLetterFilter& filter);
  std::optional<std::string> point_in_time(const std::string& text);

 private:
  /// Runs a statement in which `{matching}` stands for the condition; its own parameters are $6 and on.
  template <typename... Parameters>
  pqxx::result run(const char* doing, std::string_view statement, const DeadLetterFilter& filter,
                   const Parameters&... parameters);

  PostgresSession& session_;
};

}  // namespace lockstep
