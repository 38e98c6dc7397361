// The outcomes of documents, until the checkpoint saves them: which are written, refused, or not refused any
// more, and which become due again (W4, document_writer.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicator/clock.h"
#include "replicator/elasticsearch/bulk/bulk_request.h"
#include "replicator/elasticsearch/bulk/bulk_result.h"
#include "replicator/source/applied.h"
#include "replicator/source/outbox/acknowledged.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

/// Documents of one index that could not be written.
struct UnwrittenDocuments {
  std::vector<FoundDocument> documents;  ///< with the routings under which they were to be written
  std::string reason;                    ///< in words, of the last one
  std::optional<DueNumber> since;        ///< the oldest of those that were due before; none: none was
};

/// Documents of one index that are deleted, and will be once more.
struct RepeatedDocuments {
  std::vector<FoundDocument> documents;
  SteadyTime at;  ///< the latest of them
};

class DocumentNews {
 public:
  explicit DocumentNews(const AppliedPipeline& pipeline);

  /// Elasticsearch has it, or a newer version of it. `is_newer`: the latter. `is_repeated`: it is a delete,
  /// for which its routing stays known.
  void add_written(const BulkItem& item, bool is_newer, bool is_repeated = false);

  /// It will not be written; the letter has the reason.
  void add_refused(DeadLetter letter);

  /// Elasticsearch never had a document of this key, nor will it.
  void add_never_written(AcknowledgedWrite write);

  /// It could not be written, and becomes due again. `since`: since when it was; none: it was not.
  void add_unwritten(const DocumentKey& document, const std::string& reason, std::optional<DueNumber> since);

  /// It was deleted, and an older write of it may still land then: it becomes due at that time.
  void add_to_repeat(const DocumentKey& document, SteadyTime at);

  /// Whether the source has dead letters of an index. Only then are applied writes reported, so that their
  /// dead letters go.
  void expect_dead_letters(IndexId index) { with_dead_letters_.insert(index); }
  void expect_no_dead_letters(IndexId index);

  /// Whether there is nothing to take.
  bool empty() const;

  /// Moves everything but the unwritten documents into `news`.
  void take(Acknowledged& news);
  std::map<IndexId, UnwrittenDocuments> take_unwritten() { return std::exchange(unwritten_, {}); }
  std::map<IndexId, RepeatedDocuments> take_repeated() { return std::exchange(repeated_, {}); }

  /// Parts of the next take().
  const std::map<IndexId, std::int64_t>& documents() const { return documents_; }
  const std::vector<DeadLetter>& refused() const { return refused_; }

 private:
  std::set<IndexId> routed_;
  std::set<IndexId> with_dead_letters_;
  std::map<IndexId, std::int64_t> documents_;
  std::vector<DeadLetter> refused_;
  std::vector<AcknowledgedWrite> no_longer_refused_;
  std::vector<AcknowledgedWrite> gone_routes_;
  std::map<IndexId, UnwrittenDocuments> unwritten_;
  std::map<IndexId, RepeatedDocuments> repeated_;
};

}  // namespace lockstep
