// PostgreSQL as a source. Positions are differences of snapshots, read from the outbox; the lead is a
// session's advisory lock, so it ends with the connection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/postgres/read/expansion.h"
#include "replicator/source/postgres/session/session.h"
#include "replicator/source/postgres/watch/awaited.h"
#include "replicator/source/source.h"

namespace lockstep {

class PostgresSource final : public Source {
 public:
  /// Connects. Throws Error.
  PostgresSource(const Config& config, const std::string& purpose);

  AppliedPipeline load_pipeline() override;
  std::string revision() override;
  SourceIdentity identity() override;
  bool try_lead() override;
  Epoch epoch() override;
  KnownPartners known_partners() override;
  Epoch raise_epoch(Epoch at_least, const KnownPartners& partners) override;
  Position load_position() override;
  std::vector<Job> load_jobs() override;
  std::optional<std::int64_t> expand(const AppliedIndex& index, const Job& job) override;
  std::int64_t dead_letters(int index) override;
  std::vector<DeadLetter> dead_letters_of(int index, const Values& ids) override;
  std::vector<StoredDeadLetter> find_dead_letters(const DeadLetterFilter& filter,
                                                  const std::optional<DeadLetter>& after,
                                                  std::int64_t limit) override;
  std::int64_t count_dead_letters(const DeadLetterFilter& filter) override;
  std::int64_t discard_dead_letters(const DeadLetterFilter& filter) override;
  std::optional<std::string> point_in_time(const std::string& text) override;
  std::unique_ptr<SourceTransaction> begin() override;
  std::unique_ptr<SourceTransaction> begin_reading() override;
  bool has_passed(const Position& place) override;
  bool is_led() override;
  bool is_awaited() override;
  bool may_have_changed(const Position& position) override;
  bool await_change(const Position& position, std::chrono::milliseconds look_every,
                    std::chrono::milliseconds at_most) override;
  void prune() override;
  bool has_given_up() override;
  bool make_good() override;
  std::int64_t outbox_size() override;
  std::vector<std::string> differences_from_applied() override;
  void publish(const PublishedStatus& status) override;

 private:
  void prune_leaf(int slot);

  PostgresSession session_;
  PostgresExpansion expansion_;
  const std::string schema_name_;  // not quoted
  const std::string pipeline_name_;
  // From load_pipeline():
  int pipeline_ = 0;
  std::string identity_;
  std::string captures_;  // the pipeline's capture ids as an array literal
  std::string started_at_;
  bool changed_ = false;                      // says await_change(), and nobody has looked since
  std::unique_ptr<PostgresAwaited> awaited_;  // listens once it was asked for
};

}  // namespace lockstep
