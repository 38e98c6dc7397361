// The contract of Source (replicator/source/source.h, S1 to S5) as one suite for every implementation. An
// implementation brings a SourceWorld: a database of its own, with the pipeline of `world_schema` applied.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "replicator/source/source.h"

namespace lockstep {

/// A writer's connection, for transactions that overlap.
class SourceWriter {
 public:
  virtual ~SourceWriter() = default;
  virtual void execute(const std::string& sql) = 0;
};

/// Two tables, thing (id integer primary key, n integer) and part (id integer primary key, thing_id integer),
/// and an index that follows a view with a document {"n": …, "parts": […]} for each thing with n >= 0. Both
/// tables are tracked: thing by its key, part by thing_id.
class SourceWorld {
 public:
  virtual ~SourceWorld() = default;

  virtual std::unique_ptr<Source> open() = 0;
  virtual std::unique_ptr<SourceWriter> writer() = 0;

  /// Whether transactions of several writers can be open at once after they have written (not in SQLite).
  virtual bool has_concurrent_writers() const = 0;

  /// Commits `sql` in the laziest way the database has, so that a crash might still take it back.
  virtual void commit_lazily(const std::string& sql) = 0;
  /// Whether a crash can no longer take back what commit_lazily() did last.
  virtual bool is_durable() = 0;
};

using MakeWorld = std::function<std::unique_ptr<SourceWorld>()>;

class SourceContract : public testing::TestWithParam<MakeWorld> {
 protected:
  SourceContract();

  /// A chunk as the tail reads it, with the documents of its ids rendered in the same transaction.
  struct Chunk {
    Changes changes;
    std::map<std::string, std::string> documents;  ///< "none": the view has no such document
  };

  /// Opens a source that leads, with a new epoch.
  void lead();
  /// Reads the next chunk, renders it, and saves the position.
  Chunk step(std::int64_t max_values = 1000);
  /// step() until there is nothing more; returns the values of all chunks with how often each was reported.
  std::map<std::string, int> drain(std::int64_t max_values = 1000);

  std::map<std::string, std::string> render(SourceTransaction& transaction, const Values& ids);

  std::unique_ptr<SourceWorld> world_;
  std::unique_ptr<SourceWriter> writer_;
  std::unique_ptr<Source> source_;
  AppliedPipeline pipeline_;
  Epoch epoch_;
  Position position_;
};

}  // namespace lockstep
