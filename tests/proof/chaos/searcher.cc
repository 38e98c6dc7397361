#include "tests/proof/chaos/searcher.h"

#include <chrono>
#include <utility>

namespace lockstep::chaos {
namespace {

using namespace std::chrono_literals;

constexpr const char* kByIndex =
    R"({"size": 0, "track_total_hits": true, "aggs": {"indices": {"terms": {"field": "_index"}}}})";

// One without a node is no failed one to Elasticsearch.
bool is_of_all_shards(const nlohmann::json& shards) {
  return shards.at("failed") == 0 && shards.at("successful") == shards.at("total");
}

}  // namespace

Searcher::Searcher(std::vector<std::string> aliases, std::set<std::string> full, Elasticsearch elasticsearch)
    : aliases_(std::move(aliases)), full_(std::move(full)), elasticsearch_(elasticsearch) {
  thread_ = std::thread([this] { run(); });
}

Searcher::~Searcher() {
  stopping_ = true;
  thread_.join();
}

std::vector<std::string> Searcher::broken() const {
  const std::lock_guard lock(mutex_);
  return broken_;
}

void Searcher::find(const std::string& text) {
  const std::lock_guard lock(mutex_);
  broken_.push_back(text);
}

void Searcher::run() {
  while (!stopping_) {
    for (const std::string& alias : aliases_) {
      try {
        search(alias);
      } catch (const support::HttpStreamError& error) {
        if (elasticsearch_ == Elasticsearch::kSafe)
          find("a search of " + alias + " has no answer: " + error.what());
      }
      std::this_thread::sleep_for(10ms);
    }
  }
}

void Searcher::search(const std::string& alias) {
  const auto reply = server_.request("POST", "/" + alias + "/_search", kByIndex);
  if (reply.status == 404) return find("a search finds no alias: " + reply.body);
  const bool is_whole = reply.status == 200 && is_of_all_shards(reply.json().at("_shards"));
  if (!is_whole) {
    if (elasticsearch_ == Elasticsearch::kSafe) find("a search of " + alias + " failed: " + reply.body);
    return;
  }
  ++searches_;
  const nlohmann::json found = reply.json();
  const bool is_empty = found.at("hits").at("total").at("value") == 0;
  if (!is_empty) seen_.insert(alias);
  if (is_empty && full_.contains(alias) && seen_.contains(alias)) find("a search of " + alias + " is empty");
  if (found.at("aggregations").at("indices").at("buckets").size() > 1)
    find("a search of " + alias + " saw two generations: " + reply.body);
}

}  // namespace lockstep::chaos
