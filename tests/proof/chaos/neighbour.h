// Somebody else who uses the same Elasticsearch: blocks indices, and writes into them behind the product's
// back. Does it in a thread of its own, since Elasticsearch may be frozen meanwhile.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/elasticsearch_index.h"

namespace lockstep::chaos {

class Neighbour {
 public:
  Neighbour();
  ~Neighbour();
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  /// No writes into the indices of this alias, until unblock().
  void block(const std::string& alias);
  void unblock(const std::string& alias);

  /// Writes some documents again as they are. Their versions grow by one.
  void rewrite(const std::string& alias);

  /// Returns when all of that is done. REQUIRES: Elasticsearch answers.
  void settle();

 private:
  enum class Needed { kNo, kYes };  // whether it is tried until Elasticsearch takes it
  void add(Needed needed, std::string method, std::string path, std::string body);
  void run();

  struct Request {
    Needed needed;
    std::string method;
    std::string path;
    std::string body;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> requests_;  // guarded by mutex_; the first one is at work
  bool stopping_ = false;         // guarded by mutex_
  support::ElasticsearchServer server_;
  std::thread thread_;
};

}  // namespace lockstep::chaos
