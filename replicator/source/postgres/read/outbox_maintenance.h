// The care of PostgreSQL's outbox. Its leaves are partitions into which transactions write in turn; a leaf
// that every pipeline has passed is emptied by truncating it, unless a transaction holds it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replicator/clock.h"
#include "replicator/source/outbox_maintenance.h"
#include "replicator/source/postgres/catalog/differences.h"
#include "replicator/source/postgres/read/outbox_limit.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/session.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

class PostgresOutboxMaintenance final : public OutboxMaintenance {
 public:
  /// `schema_name` is not quoted. Both references must outlive this.
  PostgresOutboxMaintenance(PostgresSession& session, const PostgresPipeline& pipeline,
                            std::string schema_name)
      : session_(session),
        pipeline_(pipeline),
        schema_name_(std::move(schema_name)),
        limit_(session),
        turned_at_(std::chrono::steady_clock::now()) {}

  void prune() override { give_back(look()); }
  void keep_small() override;
  std::int64_t size() override { return limit_.outbox_size(); }
  bool has_given_up() override { return limit_.has_given_up(); }
  bool resume() override;
  std::vector<std::string> follow_parts() override;
  std::vector<std::string> differences_from_applied() override;

 private:
  struct Leaf {
    int slot = 0;
    std::string name;             // quoted, schema-qualified
    std::int64_t bytes = 0;       // on disk
    std::int64_t passed = 0;      // of these, noted as passed
    bool is_written = false;      // transactions write into it now
    bool is_empty = false;        // it takes no rows on disk
    bool is_only_passed = false;  // as empty, but held by a transaction

    std::int64_t pending() const { return bytes > passed ? bytes - passed : 0; }
  };

  struct UnfollowedPart {
    std::string table;     // the tracked one
    std::string function;  // which follows its parts; empty: there is none
    std::string oid;
    SteadyTime since;
  };

  struct Outbox {
    std::vector<Leaf> leaves;
    std::optional<std::int64_t> limit;  // none: no pipeline of the schema has one

    std::int64_t pending() const;
    Leaf& written();
  };

  Outbox look();
  /// Empties passed leaves, and turns to the next leaf when it is time.
  void give_back(Outbox outbox);
  /// Empties a leaf that every pipeline has passed; one that a transaction holds is noted as passed.
  void empty(Leaf& leaf);
  bool is_passed(PostgresTransaction& transaction, const Leaf& leaf) const;
  /// Whether it was not in use.
  bool truncate(const Leaf& leaf);
  void note_passed(Leaf& leaf, std::int64_t bytes);
  /// The leaf into which transactions are to write from now on; none: they stay where they are.
  static const Leaf* next_leaf(const Outbox& outbox, const Leaf& written, bool is_old);
  /// Calls the function that follows the parts of `table`, and returns its sentences.
  std::vector<std::string> follow_parts_of(const std::string& table, const std::string& function);

  /// Looks for parts that have come, gone or moved and are not followed.
  void look_for_unfollowed();
  /// Those of them that keep waiting or cannot be followed, in sentences.
  std::vector<std::string> unfollowed_parts();
  /// The sessions that hold a part so that it cannot be followed, in words; empty: there is none.
  std::string holders_of(const std::string& part);
  std::vector<Difference> find_differences();
  /// Stores an index's parts, and asks for the comparison that this needs.
  void note(const DefinitionNote& note);

  std::vector<std::string> known_differences_;
  std::map<std::string, UnfollowedPart> unfollowed_;  // by their fate, in words
  std::map<std::string, std::string> errors_;         // of following parts, by tracked table
  PostgresSession& session_;
  const PostgresPipeline& pipeline_;
  const std::string schema_name_;
  PostgresOutboxLimit limit_;
  SteadyTime turned_at_;   // when this process last had transactions write into another leaf
  bool has_limit_ = true;  // as far as is known
};

}  // namespace lockstep
