// The work that most benchmarks have: users, each with about a hundred posts, user 1 with a twentieth of all;
// a document is {title (6 words), body (40 words), created_at, user: {id, name}}, a view that joins both
// tables.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/support/probe.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/program.h"
#include "tests/support/resource_use.h"

namespace lockstep::benchmarks {

struct ReadyDocument {
  std::string id;
  std::string json;
};

class BlogWork {
 public:
  /// `elasticsearch` as in PipelineUnderTest; `postgresql` is a superuser's URL, that of the tests' server by
  /// default. Installs nothing of lockstep.
  explicit BlogWork(std::int64_t posts, const std::string& elasticsearch = {},
                    const std::string& postgresql = {});

  static const std::string& mapping();

  support::PostgresDatabase& database() { return database_; }
  support::PipelineUnderTest& pipeline() { return pipeline_; }
  support::ElasticsearchIndex& index() { return index_; }
  std::int64_t posts() const { return posts_; }

  /// Posts from 1 to here are for load; those behind it, at least one, are for probes alone.
  std::int64_t last_loaded_post() const { return posts_ - posts_ / 100 - 1; }

  /// `lockstep apply` with empty indices, whatever was there before.
  void begin_anew();

  /// `lockstep run --until-caught-up`, measured.
  support::MeasuredRun catch_up();

  /// `lockstep run`, which has begun to follow: a change has arrived.
  std::unique_ptr<support::Program> follow();

  /// Throws unless `lockstep verify` finds every index equal to its view.
  void require_equal() const;

  /// A change of the title of a post behind last_loaded_post(), another one for each number.
  Change change_of_title(std::int64_t number);

  /// The view's rows as a bulk request takes them; `condition` is SQL over the view.
  std::vector<ReadyDocument> ready_documents(const std::string& condition = "true");

  /// PostgreSQL renders these documents, on a connection of its own, as lockstep asks it to, 2,000 at a time.
  void render(const std::vector<ReadyDocument>& documents) const;

 private:
  const std::int64_t posts_;
  support::PostgresDatabase database_;
  support::PipelineUnderTest pipeline_;
  support::ElasticsearchIndex& index_;
  bool applied_ = false;
  int changes_ = 0;
};

/// A pgbench script of single-row updates in posts 1 to `last`.
std::string single_row_updates(std::int64_t last);

/// Searches the index once. Elasticsearch refreshes only what was searched, or asked for a document, in the
/// last 30 s (index.search.idle.after). Elsewhere it keeps what was written in memory, where it finds its
/// version without a look at the index: so indices are compared when all of them have been searched.
void search(const support::ElasticsearchIndex& index);

/// Waits until Elasticsearch has no merge under way, so that work does not pay for what came before it.
void let_merges_end();

/// More than any single step of a benchmark takes.
inline constexpr std::chrono::hours kPatienceForWork{2};

}  // namespace lockstep::benchmarks
