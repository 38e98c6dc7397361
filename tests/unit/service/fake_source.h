// A source in memory that can be led, spoken to and taken away; what the service needs of one, nothing more.
#pragma once

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "replicator/error.h"
#include "replicator/source/source.h"

namespace lockstep {

/// The state that all connections share.
struct FakeDatabase {
  std::atomic<bool> away = false;  ///< nobody can connect, and who is connected fails
  std::atomic<bool> led_elsewhere = false;
  std::atomic<int> connections = 0;  ///< opened since the beginning

  std::mutex mutex;
  std::vector<PublishedStatus> published;  // guarded by mutex

  std::vector<PublishedStatus> all_published() {
    const std::lock_guard lock(mutex);
    return published;
  }
  void check() const {
    if (away) throw Error({"asking the source", "it is away", "", Retry::kLater, Server::kSource});
  }
};

class FakeSource final : public Source {
 public:
  explicit FakeSource(FakeDatabase& database) : database_(database) {
    database.check();
    ++database.connections;
  }

  AppliedPipeline load_pipeline() override { return database_.check(), AppliedPipeline{}; }
  bool try_lead() override { return database_.check(), !database_.led_elsewhere; }
  void publish(const PublishedStatus& status) override {
    database_.check();
    const std::lock_guard lock(database_.mutex);
    database_.published.push_back(status);
  }

  std::string revision() override { return ""; }
  SourceIdentity identity() override { return {}; }
  Epoch epoch() override { return {}; }
  KnownPartners known_partners() override { return {}; }
  Epoch raise_epoch(Epoch, const KnownPartners&) override {
    throw std::logic_error("not asked of this fake");
  }
  std::vector<DeadLetter> dead_letters_of(int, const Values&) override { return {}; }
  std::vector<StoredDeadLetter> find_dead_letters(const DeadLetterFilter&, const std::optional<DeadLetter>&,
                                                  std::int64_t) override {
    return {};
  }
  std::int64_t count_dead_letters(const DeadLetterFilter&) override { return 0; }
  std::int64_t discard_dead_letters(const DeadLetterFilter&) override { return 0; }
  std::optional<std::string> point_in_time(const std::string&) override { return {}; }
  std::unique_ptr<SourceTransaction> begin_reading() override {
    throw std::logic_error("not asked of this fake");
  }
  bool has_passed(const Position&) override { return true; }
  bool is_led() override { return database_.led_elsewhere; }
  bool is_awaited() override { return false; }
  Position load_position() override { return {}; }
  std::vector<Job> load_jobs() override { return {}; }
  std::optional<std::int64_t> expand(const AppliedIndex&, const Job& job) override { return job.total; }
  std::int64_t dead_letters(int) override { return 0; }
  std::unique_ptr<SourceTransaction> begin() override { throw std::logic_error("not asked of this fake"); }
  bool may_have_changed(const Position&) override { return false; }
  bool await_change(const Position&, std::chrono::milliseconds, std::chrono::milliseconds) override {
    return false;
  }
  void prune() override {}
  bool has_given_up() override { return false; }
  bool make_good() override { return true; }
  std::vector<std::string> differences_from_applied() override { return {}; }
  std::int64_t outbox_size() override { return 0; }

 private:
  FakeDatabase& database_;
};

}  // namespace lockstep
