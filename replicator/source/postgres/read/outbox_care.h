// The care of PostgreSQL's outbox. Its leaves are partitions into which the triggers write in turn; a leaf
// that every pipeline has passed is emptied by truncating it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "replicator/source/outbox_care.h"
#include "replicator/source/postgres/read/outbox_limit.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

class PostgresOutboxCare final : public OutboxCare {
 public:
  /// `schema_name` is not quoted. Both references must outlive this.
  PostgresOutboxCare(PostgresSession& session, const PostgresPipeline& pipeline, std::string schema_name)
      : session_(session), pipeline_(pipeline), schema_name_(std::move(schema_name)), limit_(session) {}

  void prune() override;
  std::int64_t size() override { return limit_.outbox_size(); }
  bool has_given_up() override { return limit_.has_given_up(); }
  bool resume() override;
  std::vector<std::string> follow_parts() override;
  std::vector<std::string> differences_from_applied() override;

 private:
  struct Leaf {
    std::string name;         // quoted, schema-qualified
    bool is_written = false;  // the triggers write into it now
  };

  std::vector<Leaf> leaves();
  /// Calls the function that follows the parts of `table`, and returns what it says.
  std::vector<std::string> follow_parts_of(const std::string& table, const std::string& function);
  /// Empties a leaf that every pipeline has passed.
  void empty(const Leaf& leaf);

  std::vector<std::string> known_differences_;
  std::map<std::string, std::string> unfollowed_;  // why, by tracked table
  PostgresSession& session_;
  const PostgresPipeline& pipeline_;
  const std::string schema_name_;
  PostgresOutboxLimit limit_;
};

}  // namespace lockstep
