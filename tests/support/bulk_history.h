// What Elasticsearch was asked to do to each document, in the order in which it did it (by _seq_no, which
// counts within a shard, so that replies that arrive in another order don't mislead), and what promise 2 says
// about it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tests/support/http_stream.h"

namespace lockstep::support {

/// What a document's content says of how new its rows are: a number for each row it was made of, which only
/// grows.
using RowCounters = std::map<std::string, std::int64_t>;

struct BulkOperation {
  std::string alias;  ///< as the request names it
  std::string id;
  std::string routing;
  bool is_delete = false;
  bool conditional = false;  ///< under if_seq_no: it writes nothing, and is there for its refusal
  std::int64_t version = 0;
  std::size_t content_hash = 0;
  RowCounters counters;

  int status = 0;            ///< of the item, or of the whole reply
  std::string error_type;    ///< empty when there was none
  std::int64_t seq_no = -1;  ///< of an applied operation
  std::string index;         ///< the concrete one, and which of that name

  /// Done, or a delete of what wasn't there: Elasticsearch remembers the version of both.
  bool applied() const { return seq_no >= 0; }
};

class BulkHistory {
 public:
  using CounterHook = std::function<RowCounters(std::string_view document)>;

  /// `counters` reads a document's counters; without it only versions are judged.
  explicit BulkHistory(CounterHook counters = {}) : read_counters_(std::move(counters)) {}

  /// Reads a _bulk request that is about to be sent. Thread-safe, as everything here.
  std::vector<BulkOperation> begin(const HttpMessage& request);

  /// Its reply has come; none: the connection broke, and what became of the operations is not known.
  void end(std::vector<BulkOperation> operations, const HttpMessage* reply);

  /// The index was deleted: one of the same name that comes after it begins anew.
  void index_deleted(const std::string& index);

  /// The source was put back to an older state: what is written under a version above this one may show older
  /// rows than what was written before.
  void source_put_back(std::int64_t version);

  /// Judges what has come until now and forgets the operations, so that a run of hours needs no more memory
  /// than one of minutes. Does nothing, and returns false, while an operation is in flight.
  bool settle();

  /// Whatever contradicts "never backwards": versions that fall, counters that fall, one version with two
  /// contents, an operation without an external version. Empty when all is well.
  std::vector<std::string> violations() const;

  /// Documents with two operations in flight at once. Expected only when a replicator was killed or deposed.
  std::vector<std::string> overlaps() const;

  /// Since the last settle(): the applied operations on a document, in the order in which they were applied.
  std::vector<BulkOperation> applied_to(const std::string& id) const;

  /// Since the last settle(): every operation on a document in the order of the replies, whatever became of
  /// it.
  std::vector<BulkOperation> operations_on(const std::string& id) const;

  std::int64_t requests() const;
  std::int64_t operations() const;  ///< with a reply
  std::int64_t applied() const;
  std::int64_t superseded() const;  ///< answered with 409
  std::int64_t repeated() const;    ///< sent again under the version of the one before

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // index or alias, id, routing

  // What one document went through until now.
  struct Course {
    bool begun = false;
    std::int64_t version = 0;
    bool is_delete = false;
    std::size_t content_hash = 0;
    std::size_t put_backs = 0;
    RowCounters counters;
  };
  using Courses = std::map<Key, Course>;

  void follow(Course& course, const BulkOperation& operation, std::vector<std::string>& violations) const;
  void follow_all(Courses& courses, std::vector<std::string>& violations) const;

  const CounterHook read_counters_;

  mutable std::mutex mutex_;
  // guarded by mutex_
  std::vector<BulkOperation> operations_;  // since the last settle()
  Courses courses_;                        // until the last settle()
  std::vector<std::string> settled_violations_;
  std::vector<std::int64_t> put_backs_;  // versions, rising
  std::map<Key, std::int64_t> last_begun_;
  std::set<Key> in_flight_;
  std::map<std::string, int> deleted_;  // how often, by index
  std::vector<std::string> overlaps_;
  std::vector<std::string> malformed_;
  std::int64_t requests_ = 0;
  std::int64_t applied_ = 0;
  std::int64_t superseded_ = 0;
  std::int64_t settled_ = 0;
  std::int64_t repeated_ = 0;
};

}  // namespace lockstep::support
