#include "replicator/pipeline/jobs/page_reader.h"

#include <utility>

#include "replicator/clock.h"

namespace lockstep {

PageReader::PageReader(std::unique_ptr<PageConnection> connection, VersionCounter& versions,
                       OpenClient open_client, std::function<void()> on_read)
    : connection_(std::move(connection)),
      versions_(versions),
      open_client_(std::move(open_client)),
      on_read_(std::move(on_read)) {}

PageReader::~PageReader() {
  if (!page_.valid()) return;
  do {
    cancel();
  } while (!page_.has_ended(std::chrono::milliseconds(50)));
}

void PageReader::start(PagedWork& work, const PageLimits& limits) {
  page_ = in_background([this, &work, limits] { return read(work, limits); }, on_read_);
}

std::optional<PageInStep> PageReader::take() {
  if (!page_.has_ended()) return std::nullopt;
  return page_.get();
}

PageInStep PageReader::read(PagedWork& work, const PageLimits& limits) {
  const SteadyTime begun = steady_now();
  const Epoch epoch = versions_.epoch();
  work.look_ahead({[&] { return connection_->begin(epoch); }, [this] { return open_client(); }, true},
                  limits);
  const std::unique_ptr<SourceTransaction> transaction = connection_->begin(epoch);
  StepDocuments documents(epoch, versions_.number(*transaction), static_cast<std::size_t>(limits.bytes));
  PageEnd end = work.read_page(*transaction, documents, limits);
  const bool is_durable = transaction->may_be_shown();
  return {std::move(documents), std::move(end), is_durable,
          std::chrono::duration_cast<std::chrono::microseconds>(steady_now() - begun)};
}

std::shared_ptr<ElasticsearchClient> PageReader::open_client() {
  std::shared_ptr<ElasticsearchClient> client = open_client_();
  const MutexLock lock(mutex_);
  std::erase_if(opened_, [](const auto& opened) { return opened.expired(); });
  opened_.push_back(client);
  return client;
}

void PageReader::cancel() {
  connection_->cancel();
  const MutexLock lock(mutex_);
  for (const std::weak_ptr<ElasticsearchClient>& opened : opened_) {
    if (const auto client = opened.lock()) client->cancel();
  }
}

}  // namespace lockstep
