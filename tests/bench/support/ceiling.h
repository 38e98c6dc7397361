// The ceiling: what Elasticsearch takes of the same documents when nothing but it has any work: ready-made
// bulk requests, sent over plain sockets, of the size and so many at once that it takes most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/report.h"
#include "tests/support/elasticsearch_index.h"

namespace lockstep::benchmarks {

struct BulkShape {
  std::size_t bytes = 0;
  int in_flight = 1;
};

/// "bulks of 1024 KiB, 2 in flight"
std::string text(BulkShape shape);

class Ceiling {
 public:
  Ceiling(std::string mapping, std::vector<ReadyDocument> documents);

  /// Fills a new index with every shape in turn; returns the one with most documents a second. Reports them
  /// all.
  BulkShape find_best(Report& report);

  /// Fills a new index with all documents; returns documents a second. The index stays until the next fill().
  double fill(BulkShape shape);

  /// That index.
  const support::ElasticsearchIndex& index() const { return index_; }

  /// Writes `documents` over what fill() left there; returns seconds. See search().
  double overwrite(const std::vector<ReadyDocument>& documents, BulkShape shape);

 private:
  std::vector<std::string> bodies(const std::vector<ReadyDocument>& documents, BulkShape shape);
  double send(const std::vector<std::string>& bodies, int in_flight);

  const std::string mapping_;
  const std::vector<ReadyDocument> documents_;
  support::ElasticsearchIndex index_;
  std::string name_;  // of the concrete index
  int fills_ = 0;
  std::int64_t version_ = 0;
};

}  // namespace lockstep::benchmarks
