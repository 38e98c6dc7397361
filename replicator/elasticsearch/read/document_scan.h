// The ids of all documents of an index, as they lie on the disk: the cheapest way to see them all.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/scroll.h"
#include "replicator/elasticsearch/read/stored_document.h"

namespace lockstep {

struct ScanOptions {
  std::size_t page = 5'000;  ///< documents on a page; fewer if the index allows only fewer
  std::chrono::minutes lifetime = kScrollLifetime;  ///< how long the server waits for the next call
  int slice = 0;                                    ///< which part to scan
  int slices = 1;                                   ///< of how many
};

/// Finds every document that the last refresh made searchable, without its contents, page by page as they lie
/// on the disk: refresh first to see all. It does not see later writes. The server forgets a scan after its
/// lifetime without a call; the destructor ends it there too.
class DocumentScan {
 public:
  /// `client` must outlive this. Nothing is sent yet.
  DocumentScan(ElasticsearchClient& client, const std::string& alias, const ScanOptions& options);
  ~DocumentScan();
  DocumentScan(const DocumentScan&) = delete;
  DocumentScan& operator=(const DocumentScan&) = delete;

  /// The next page, valid until the next call; empty at the end. Throws Error as the client does: a retryable
  /// one if a shard does not answer, or if the scan or a page of it is lost, and then the scan must begin
  /// again.
  std::span<const StoredDocument> next();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Calls `sink` with every page of a DocumentScan.
void scan_documents(ElasticsearchClient& client, const std::string& alias, const ScanOptions& options,
                    const std::function<void(std::span<const StoredDocument>)>& sink);

}  // namespace lockstep
