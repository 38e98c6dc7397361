// Reads documents back: some by id, or all, with their source as it is stored or without. For `verify`,
// sweeps and whoever asks whether index and view are equal (promise 3). Memory is bounded by a page.
//
// What it costs Elasticsearch 7.10, in CPU for a document: 13 µs in a scan with sources whose pages are large
// and lie together on the disk, 12 µs to be counted by its id, 270 µs to be read by its id.
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

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/scroll.h"

namespace lockstep {

/// Where to look for a document. `routing` is empty for none.
struct DocumentLocation {
  std::string_view id;
  std::string_view routing;
};

/// A document as the index has it. The views are valid during the call only.
struct StoredDocument {
  std::string_view id;
  /// Under which it is stored. May differ from the routing that it was looked up with: Elasticsearch finds a
  /// document by its id in the whole shard that the routing leads to.
  std::string_view routing;
  std::int64_t version = 0;
  std::string_view source;  ///< the JSON object, byte by byte as it was written; empty in a scan without
};

/// Looks up `wanted` and calls `sink` once for each, in order, with its position; none: the index has no such
/// document. Reads what has been written, refreshed or not. Throws Error as the client does.
void fetch_documents(ElasticsearchClient& client, const std::string& alias,
                     std::span<const DocumentLocation> wanted,
                     const std::function<void(std::size_t, const std::optional<StoredDocument>&)>& sink);

/// How many documents have these ids, of those that the last refresh has made searchable; one that is there
/// under several routings counts as often. Throws Error as the client does, a retryable one when a shard does
/// not answer.
std::int64_t count_documents(ElasticsearchClient& client, const std::string& alias,
                             std::span<const DocumentLocation> wanted);

struct ScanOptions {
  std::size_t page = 5'000;                         ///< documents a call of the sink
  bool sources = false;                             ///< reads them too: a page has to fit into memory
  std::chrono::minutes lifetime = kScrollLifetime;  ///< so long the server waits for the next call
  int slice = 0;                                    ///< which of
  int slices = 1;                                   ///< so many parts to scan
};

/// Reads every document that the last refresh has made searchable, page by page in no particular order:
/// refresh first to see all. What is written meanwhile is not seen. The server forgets a
/// scan that is left alone for its lifetime; destroying it ends it there too.
class DocumentScan {
 public:
  /// `client` must outlive this. Nothing is sent yet.
  DocumentScan(ElasticsearchClient& client, const std::string& alias, const ScanOptions& options);
  ~DocumentScan();
  DocumentScan(const DocumentScan&) = delete;
  DocumentScan& operator=(const DocumentScan&) = delete;

  /// The next page, valid until the next call; empty at the end. Throws Error as the client does, a retryable
  /// one when a shard does not answer or the scan is lost: it has to begin again.
  std::span<const StoredDocument> next();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Calls `sink` with every page of a DocumentScan.
void scan_documents(ElasticsearchClient& client, const std::string& alias, const ScanOptions& options,
                    const std::function<void(std::span<const StoredDocument>)>& sink);

}  // namespace lockstep
