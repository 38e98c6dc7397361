// A source that answers `wait` from a script.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "replicator/error.h"
#include "replicator/source/applied_watch.h"

namespace lockstep::fake {

/// What all watches of a test share. Thread-safe.
class WatchScript {
 public:
  using Kind = AppliedState::Kind;

  /// Answered one by one; the last one again and again.
  explicit WatchScript(std::deque<AppliedState> answers) : answers_(std::move(answers)) {}

  void answer_from_now_on(AppliedState state) {
    const std::lock_guard lock(mutex_);
    answers_ = {std::move(state)};
  }
  void fail_next_look() {
    const std::lock_guard lock(mutex_);
    failing_ = true;
  }
  void set_led(bool led) {
    const std::lock_guard lock(mutex_);
    led_ = led;
  }

  AppliedState look() {
    const std::lock_guard lock(mutex_);
    ++looks_;
    if (std::exchange(failing_, false))
      throw Error({"asking", "it is away", "", Retry::kLater, Server::kSource});
    AppliedState state = answers_.front();
    if (answers_.size() > 1) answers_.pop_front();
    return state;
  }
  void begin(std::optional<TransactionId> transaction) {
    const std::lock_guard lock(mutex_);
    begun_.push_back(transaction);
  }
  void open() {
    const std::lock_guard lock(mutex_);
    ++opened_;
  }
  void set_searched(std::vector<SearchedIndex> searched) {
    const std::lock_guard lock(mutex_);
    searched_ = std::move(searched);
  }
  std::vector<SearchedIndex> searched_indices() {
    const std::lock_guard lock(mutex_);
    return searched_;
  }
  bool is_led() {
    const std::lock_guard lock(mutex_);
    return led_;
  }

  int looks() {
    const std::lock_guard lock(mutex_);
    return looks_;
  }
  int opened() {
    const std::lock_guard lock(mutex_);
    return opened_;
  }
  std::vector<std::optional<TransactionId>> begun() {
    const std::lock_guard lock(mutex_);
    return begun_;
  }

 private:
  std::mutex mutex_;
  std::deque<AppliedState> answers_;
  std::vector<std::optional<TransactionId>> begun_;
  std::vector<SearchedIndex> searched_;
  bool failing_ = false;
  bool led_ = true;
  int looks_ = 0;
  int opened_ = 0;
};

class ScriptedWatch final : public AppliedWatch {
 public:
  explicit ScriptedWatch(WatchScript& script) : script_(script) { script.open(); }

  std::unique_ptr<AppliedPoint> begin(std::optional<TransactionId> transaction) override {
    script_.begin(transaction);
    return std::make_unique<Point>(script_);
  }
  std::vector<SearchedIndex> searched_indices() override { return script_.searched_indices(); }
  bool is_led() override { return script_.is_led(); }

 private:
  class Point final : public AppliedPoint {
   public:
    explicit Point(WatchScript& script) : script_(script) {}
    AppliedState look() override { return script_.look(); }

   private:
    WatchScript& script_;
  };

  WatchScript& script_;
};

}  // namespace lockstep::fake
