#include "tests/proof/chaos/crew.h"

#include <chrono>

namespace lockstep::chaos {
namespace {

using support::RandomWriter;
using namespace std::chrono_literals;

constexpr auto kPause = 15ms;  // between the transactions of one writer
constexpr int kLargeRows = 1500;

}  // namespace

Crew::Crew(const support::PostgresDatabase& database, std::uint64_t seed, int of_each_kind)
    : shapes_(database, seed * 100 + 99) {
  shapes_.set_pause(kPause);
  for (int i = 0; i < of_each_kind; ++i) {
    const auto role = i == 0 ? RandomWriter::Role::kLarge : RandomWriter::Role::kMixed;
    mixed_.push_back(
        std::make_unique<RandomWriter>(database, i, seed * 100 + static_cast<std::uint64_t>(i), role));
    mixed_.back()->set_large_rows(kLargeRows);
    mixed_.back()->set_pause(kPause);
    tree_.push_back(std::make_unique<TreeWriter>(database, seed * 100 + 50 + static_cast<std::uint64_t>(i)));
    tree_.back()->set_pause(kPause);
    std::string session;
    if (i % 2 == 1) session += "set synchronous_commit = off; ";
    if (i % 4 >= 2 || of_each_kind < 3) session += "set role chaos_stranger; ";
    mixed_.back()->set_session(session);
    tree_.back()->set_session(session);
  }
  for (auto& writer : mixed_) {
    threads_.emplace_back([this, &writer] { run([&](const auto& go_on) { writer->run_while(go_on); }); });
  }
  for (auto& writer : tree_) {
    threads_.emplace_back([this, &writer] { run([&](const auto& go_on) { writer->run_while(go_on); }); });
  }
  threads_.emplace_back([this] { run([&](const auto& go_on) { shapes_.run_while(go_on); }); });
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    working_ = false;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::run(const Task& task) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait(lock, [&] { return stopping_ || working_; });
    if (stopping_) return;
    ++busy_;
    lock.unlock();
    task([this] { return working_.load(); });
    lock.lock();
    --busy_;
    changed_.notify_all();
  }
}

void Crew::work() {
  const std::lock_guard lock(mutex_);
  working_ = true;
  changed_.notify_all();
}

void Crew::pause() {
  std::unique_lock lock(mutex_);
  working_ = false;
  changed_.wait(lock, [&] { return busy_ == 0; });
}

std::int64_t Crew::committed() const {
  std::int64_t sum = shapes_.committed();
  for (const auto& writer : mixed_) sum += writer->committed();
  for (const auto& writer : tree_) sum += writer->committed();
  return sum;
}

std::int64_t Crew::failed() const {
  std::int64_t sum = shapes_.failed();
  for (const auto& writer : mixed_) sum += writer->failed();
  for (const auto& writer : tree_) sum += writer->failed();
  return sum;
}

}  // namespace lockstep::chaos
