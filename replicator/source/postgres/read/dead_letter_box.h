// lockstep.dead_letter for people: looks through refused documents, and forgets them.
#pragma once

#include <string_view>

#include "replicator/source/dead_letter_box.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

class PostgresDeadLetterBox final : public DeadLetterBox {
 public:
  /// `session` must outlive this.
  explicit PostgresDeadLetterBox(PostgresSession& session) : session_(session) {}

  std::chrono::system_clock::time_point now() override;
  std::int64_t count(const DeadLetterFilter& filter) override;
  std::vector<StoredDeadLetter> find(const DeadLetterFilter& filter, const std::optional<DeadLetter>& after,
                                     std::int64_t limit) override;
  std::vector<DeadLetter> find_due(const std::vector<IndexId>& indices, std::int64_t limit) override;
  std::int64_t discard(const DeadLetterFilter& filter) override;

 private:
  /// Runs a statement in which `{matching}` is replaced by the condition; its own parameters are $6 and on.
  template <typename... Parameters>
  pqxx::result run(std::string_view doing, std::string_view statement, const DeadLetterFilter& filter,
                   const Parameters&... parameters);

  PostgresSession& session_;
};

}  // namespace lockstep
