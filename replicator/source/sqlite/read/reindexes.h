// {schema}_reindex: people's orders for a reindex, and the steps of the leader (migration 0003 has the
// states).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/reindexes.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// Adds a row as Reindexes::start() does. False: the alias has one that has not failed, or the pipeline has
/// no such index. REQUIRES: a SqliteWrite is open.
bool add_reindex(SqliteConnection& connection, int pipeline, const WantedReindex& wanted);

class SqliteReindexes final : public Reindexes {
 public:
  /// Both must outlive this.
  SqliteReindexes(SqliteConnection& connection, const SqlitePipeline& pipeline)
      : connection_(connection), pipeline_(pipeline) {}

  std::vector<Reindex> all() override;
  bool start(const WantedReindex& wanted) override;
  bool limit(ReindexId reindex, std::optional<std::int64_t> max_rate) override;
  bool want(ReindexId reindex, ReindexWish wish, Force force) override;
  bool advance(const Reindex& reindex, Epoch epoch, const ReindexStep& step) override;
  void note(ReindexId reindex, const std::string& reason) override;
  std::int64_t refused_beside(const Reindex& reindex) override;
  void note_pace(IndexId index, JobKind kind, const Pace& pace) override;
  std::optional<Pace> pace(IndexId index, JobKind kind) override;

 private:
  /// A step's work besides noting the state. REQUIRES, as all of these: a SqliteWrite is open.
  void carry_out(const Reindex& known, const ReindexStep& step);
  void fill(const Reindex& known, const NewGeneration& generation);
  int last_index();
  void compare(const Reindex& known);
  void drop(const Reindex& known, const std::string& failure);
  void run(std::string_view sql, std::map<std::string, std::string> holes);

  SqliteConnection& connection_;
  const SqlitePipeline& pipeline_;
};

}  // namespace lockstep
