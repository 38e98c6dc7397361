// Reads documents back: some by id, or all, with their stored source or without. For `verify`, for jobs that
// clear up, and for every question whether index and view are equal (promise 3). Needs memory for one page.
//
// The CPU time of Elasticsearch 7.10 for a document: 13 µs in a scan with sources, when pages are large and
// lie together on disk; 12 µs to count it by its id; 270 µs to read it by its id.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "replicator/document_version.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/scroll.h"

namespace lockstep {

/// Where to look for a document. `routing` is empty for none.
struct DocumentLocation {
  std::string_view id;
  std::string_view routing;
};

/// A document as the index has it. The views are only valid during the call.
struct StoredDocument {
  std::string_view id;
  /// The stored one. It may differ from the routing in the request: Elasticsearch looks for the id in the
  /// whole shard to which that routing leads.
  std::string_view routing;
  DocumentVersion version;  ///< of a document of ours; elsewhere a number of Elasticsearch's own
  std::string_view source;  ///< the JSON object byte by byte; empty in a scan without sources
};

/// Looks up `wanted` and calls `sink` once for each, in order, with its position, and with none when the
/// index has no such document; none has an id that Elasticsearch does not take (document_limits.h), or a
/// routing that is not UTF-8. Sees everything that was written, refreshed or not. Throws Error as the client
/// does.
void fetch_documents(ElasticsearchClient& client, const std::string& alias,
                     std::span<const DocumentLocation> wanted,
                     const std::function<void(std::size_t, const std::optional<StoredDocument>&)>& sink);

/// How many documents with these ids were searchable at the last refresh. An id under several routings counts
/// several times. Throws Error as the client does, a retryable one when a shard does not answer.
std::int64_t count_documents(ElasticsearchClient& client, const std::string& alias,
                             std::span<const DocumentLocation> wanted);

struct ScanOptions {
  std::size_t page = 5'000;  ///< documents on a page; fewer if the index allows only fewer
  bool sources = false;      ///< with them a page must still fit into memory
  std::chrono::minutes lifetime = kScrollLifetime;  ///< how long the server waits for the next call
  int slice = 0;                                    ///< which part to scan
  int slices = 1;                                   ///< of how many
};

/// Reads every document that the last refresh made searchable, page by page in no particular order: refresh
/// first to see all. It does not see what is written meanwhile. The server forgets a scan after its lifetime
/// without a call; the destructor ends it there too.
class DocumentScan {
 public:
  /// `client` must outlive this. Nothing is sent yet.
  DocumentScan(ElasticsearchClient& client, const std::string& alias, const ScanOptions& options);
  ~DocumentScan();
  DocumentScan(const DocumentScan&) = delete;
  DocumentScan& operator=(const DocumentScan&) = delete;

  /// The next page, valid until the next call; empty at the end. Throws Error as the client does: a retryable
  /// one when a shard does not answer or the scan is lost, and then the scan must begin again.
  std::span<const StoredDocument> next();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Calls `sink` with every page of a DocumentScan.
void scan_documents(ElasticsearchClient& client, const std::string& alias, const ScanOptions& options,
                    const std::function<void(std::span<const StoredDocument>)>& sink);

}  // namespace lockstep
