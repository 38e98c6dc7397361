// Somebody who searches through each alias again and again. No search may be empty that was not before, see
// two generations, or find no alias, whatever becomes of the indices behind it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/elasticsearch_index.h"

namespace lockstep::chaos {

class Searcher {
 public:
  enum class Elasticsearch { kHarmed, kSafe };  // safe: every search has to be answered

  /// `full` are those of the aliases whose views have rows all the while.
  Searcher(std::vector<std::string> aliases, std::set<std::string> full, Elasticsearch elasticsearch);
  ~Searcher();
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;

  /// That were answered by all shards.
  std::int64_t searches() const { return searches_; }
  std::vector<std::string> broken() const;

 private:
  void run();
  void search(const std::string& alias);
  void find(const std::string& text);

  const std::vector<std::string> aliases_;
  const std::set<std::string> full_;
  const Elasticsearch elasticsearch_;
  std::set<std::string> seen_;           // of the thread: aliases that were not empty
  support::ElasticsearchServer server_;  // likewise
  mutable std::mutex mutex_;
  std::vector<std::string> broken_;  // guarded by mutex_
  std::atomic<std::int64_t> searches_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;  // last: everything else exists while it runs
};

}  // namespace lockstep::chaos
