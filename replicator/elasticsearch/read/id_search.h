// Searches for documents with given ids: to read many that lie together on the disk, or to count them. Sees
// the documents that the last refresh made searchable.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/reply_size.h"
#include "replicator/elasticsearch/read/stored_document.h"

namespace lockstep {

/// fetch_documents() (document_reader.h) for many documents that lie together on the disk, as those of a
/// scan: much cheaper for the server. `sink` is called in no particular order.
class NeighbourReader {
 public:
  /// `client` must outlive this.
  NeighbourReader(ElasticsearchClient& client, std::string alias);

  void fetch(std::span<const DocumentLocation> wanted, const StoredDocumentSink& sink);

 private:
  ElasticsearchClient& client_;
  const std::string alias_;
  ReplySize size_;
};

/// The number of documents with these ids that were searchable at the last refresh. An id under several
/// routings counts several times. Throws Error as the client does, a retryable one if a shard does not
/// answer.
std::int64_t count_documents(ElasticsearchClient& client, const std::string& alias,
                             std::span<const DocumentLocation> wanted);

}  // namespace lockstep
