#include "tests/proof/chaos/neighbour.h"

#include <chrono>
#include <utility>

namespace lockstep::chaos {
namespace {

using namespace std::chrono_literals;

// Both generations, wherever the alias stands.
std::string settings_of(const std::string& alias) {
  return "/" + alias + "-*/_settings?expand_wildcards=all";
}

}  // namespace

Neighbour::Neighbour() : thread_([this] { run(); }) {}

Neighbour::~Neighbour() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Neighbour::block(const std::string& alias) {
  add(Needed::kNo, "PUT", settings_of(alias), R"({"index.blocks.write": true})");
}

void Neighbour::unblock(const std::string& alias) {
  add(Needed::kYes, "PUT", settings_of(alias), R"({"index.blocks.write": null})");
}

void Neighbour::rewrite(const std::string& alias) {
  add(Needed::kNo, "POST", "/" + alias + "/_update_by_query?conflicts=proceed&max_docs=300&timeout=2s",
      R"({"query": {"function_score": {"query": {"match_all": {}}, "random_score": {}}}})");
}

void Neighbour::add(Needed needed, std::string method, std::string path, std::string body) {
  const std::lock_guard lock(mutex_);
  requests_.push_back({needed, std::move(method), std::move(path), std::move(body)});
  changed_.notify_all();
}

void Neighbour::settle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return requests_.empty(); });
}

void Neighbour::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !requests_.empty(); });
    if (stopping_) return;
    const Request request = requests_.front();
    lock.unlock();
    bool done = request.needed == Needed::kNo;
    try {
      done = server_.request(request.method, request.path, request.body).status < 300 || done;
    } catch (const support::HttpStreamError&) {
      // Elasticsearch is away.
    }
    if (!done) std::this_thread::sleep_for(200ms);
    lock.lock();
    if (done) requests_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace lockstep::chaos
