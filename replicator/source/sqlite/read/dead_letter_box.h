// {schema}_dead_letter for people: looks through refused documents, and forgets them.
#pragma once

#include "replicator/source/dead_letter_box.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

class SqliteDeadLetterBox final : public DeadLetterBox {
 public:
  /// `connection` must outlive this.
  explicit SqliteDeadLetterBox(SqliteConnection& connection) : connection_(connection) {}

  std::chrono::system_clock::time_point now() override { return std::chrono::system_clock::now(); }
  std::int64_t count(const DeadLetterFilter& filter) override;
  std::vector<StoredDeadLetter> find(const DeadLetterFilter& filter, const std::optional<DeadLetter>& after,
                                     std::int64_t limit) override;
  std::vector<DeadLetter> find_due(const std::vector<IndexId>& indices, std::int64_t limit) override;
  std::int64_t discard(const DeadLetterFilter& filter) override;

 private:
  SqliteConnection& connection_;
};

}  // namespace lockstep
