// Reads pages of work alongside the tail in a thread and on a connection of its own, so that neither the tail
// nor the jobs wait for each other's reading. One page at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "replicator/background.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/mutex.h"
#include "replicator/pipeline/jobs/paged_work.h"
#include "replicator/pipeline/step_documents.h"
#include "replicator/pipeline/version_counter.h"
#include "replicator/source/page_connection.h"

namespace lockstep {

/// A page that was read and is not handed over.
struct PageInStep {
  StepDocuments documents;
  PageEnd end;
  bool is_durable = false;  ///< its snapshot; else the leader has to commit first (S4)
  std::chrono::microseconds took{};
};

/// For one thread, which reads nothing of the work itself meanwhile.
class PageReader {
 public:
  /// Calls `on_read` from the reading thread when a page is there. `versions` must outlive this.
  PageReader(std::unique_ptr<PageConnection> connection, VersionCounter& versions, OpenClient open_client,
             std::function<void()> on_read);
  /// Cancels the reading.
  ~PageReader();
  PageReader(const PageReader&) = delete;
  PageReader& operator=(const PageReader&) = delete;

  /// Reads the next page of the work, which must live until take() has given it. REQUIRES: take() has given
  /// the page before.
  void start(PagedWork& work, const PageLimits& limits);

  /// The page that was started; none: it is not read yet. Throws its reading's exception.
  std::optional<PageInStep> take();

 private:
  PageInStep read(PagedWork& work, const PageLimits& limits);
  std::shared_ptr<ElasticsearchClient> open_client();
  void cancel();

  const std::unique_ptr<PageConnection> connection_;
  VersionCounter& versions_;
  const OpenClient open_client_;
  const std::function<void()> on_read_;
  Mutex mutex_;
  /// Those that cancel() cuts off.
  std::vector<std::weak_ptr<ElasticsearchClient>> opened_ LOCKSTEP_GUARDED_BY(mutex_);
  Background<PageInStep> page_;
};

}  // namespace lockstep
