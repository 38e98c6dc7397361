#include "replicator/elasticsearch/bulk/bulk_writer.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include "replicator/elasticsearch/bulk/bulk_delivery.h"
#include "replicator/elasticsearch/bulk/bulk_response.h"
#include "replicator/elasticsearch/bulk/congestion_window.h"
#include "replicator/elasticsearch/bulk/throughput_search.h"

namespace lockstep {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Elasticsearch waits for a missing primary as long as `timeout` says. It has to answer for the other items
/// well before we stop listening.
std::string bulk_path(milliseconds request_timeout) {
  const milliseconds wait = std::min(milliseconds(30'000), request_timeout / 2);
  return "/_bulk?require_alias=true&timeout=" + std::to_string(wait.count()) +
         "ms&filter_path=" + std::string(kBulkFilterPath);
}

}  // namespace

class BulkWriter::Impl {
 public:
  Impl(const Options& options, const TransportFactory& make_transport);
  ~Impl();

  bool has_room() const;
  std::uint64_t submit(BulkRequest request, Priority priority);
  void limit_background(std::size_t requests);
  std::size_t background_bytes() const;
  std::vector<BulkResult> take(milliseconds wait);
  void on_finished(std::function<void()> wake);
  std::size_t outstanding() const;
  BulkWriterState state() const;
  void stop(milliseconds grace);

 private:
  struct Job {
    std::uint64_t ticket = 0;
    BulkRequest request;
    steady_clock::time_point submitted;
    Priority priority = Priority::kNormal;
  };
  struct Worker {
    std::unique_ptr<HttpTransport> transport;
    Backoff backoff;
    std::string reason;  // guarded by mutex_: why the last try failed; empty when it did not
    bool stuck = false;  // guarded by mutex_: a whole round brought no outcome
    std::thread thread;
  };

  void run(Worker& worker);
  std::optional<BulkResult> deliver(Worker& worker, Job job);
  std::size_t send_round(Worker& worker, BulkDelivery& delivery, Priority priority);
  std::size_t send_piece(Worker& worker, BulkDelivery& delivery, std::size_t most_bytes);
  bool may_enter_wire(Priority priority) const;
  void note_room(steady_clock::time_point now);
  std::optional<std::uint64_t> enter_wire(Priority priority, std::size_t& most_bytes);
  void leave_wire(const BulkDelivery& delivery, Priority priority, std::uint64_t generation);
  void note_progress(Worker& worker);
  bool wait_for_retry(Worker& worker, const std::string& reason, std::size_t settled);
  bool room() const { return queue_.size() + static_cast<std::size_t>(busy_) < workers_.size(); }
  void start_episode(const std::string& reason);
  void end_episode();

  const milliseconds request_timeout_;
  const std::function<bool()> may_send_;
  const std::string path_;
  const std::size_t bulk_bytes_;
  std::vector<std::unique_ptr<Worker>> workers_;

  // Everything below is guarded by mutex_.
  mutable std::mutex mutex_;
  std::condition_variable job_came_;    // for idle workers; also when stopping
  std::condition_variable stop_came_;   // for workers that wait before the next try
  std::condition_variable job_ended_;   // for the owner; also when stopping
  std::condition_variable wire_freed_;  // for workers that wait for the congestion window; also when stopping
  CongestionWindow window_;
  ThroughputSearch search_;  // for background requests; others take all that there is
  int on_wire_ = 0;
  std::size_t background_on_wire_ = 0;
  std::size_t background_limit_ = static_cast<std::size_t>(-1);
  std::deque<Job> queue_;
  std::vector<BulkResult> finished_;
  std::function<void()> wake_;
  int busy_ = 0;  // workers with a job
  std::uint64_t next_ticket_ = 1;
  std::uint64_t retries_ = 0;
  bool stopping_ = false;
  int stuck_ = 0;  // workers that are stuck; an episode of waiting lasts while there is one
  steady_clock::time_point episode_began_;
  std::uint64_t episode_retries_ = 0;
};

BulkWriter::Impl::Impl(const Options& options, const TransportFactory& make_transport)
    : request_timeout_(options.request_timeout),
      may_send_(options.may_send),
      path_(bulk_path(options.request_timeout)),
      bulk_bytes_(options.bulk_bytes),
      window_(options.bulks_in_flight, options.bulk_bytes),
      search_({options.bulks_in_flight - 1, options.bulk_bytes}) {
  std::random_device seed;
  for (int i = 0; i < std::max(1, options.bulks_in_flight); ++i) {
    workers_.push_back(
        std::make_unique<Worker>(Worker{make_transport(), Backoff(options.backoff, seed()), {}, false, {}}));
  }
  for (const auto& worker : workers_) {
    worker->thread = std::thread([this, &worker = *worker] { run(worker); });
  }
}

BulkWriter::Impl::~Impl() {
  stop(milliseconds(0));
  for (const auto& worker : workers_) worker->thread.join();
}

bool BulkWriter::Impl::has_room() const {
  const std::lock_guard lock(mutex_);
  return room();
}

std::uint64_t BulkWriter::Impl::submit(BulkRequest request, Priority priority) {
  const auto submitted = steady_clock::now();
  std::unique_lock lock(mutex_);
  job_ended_.wait(lock, [this] { return room() || stopping_; });
  const std::uint64_t ticket = next_ticket_++;
  if (!stopping_) {
    queue_.push_back({ticket, std::move(request), submitted, priority});
    job_came_.notify_one();
  }
  return ticket;
}

void BulkWriter::Impl::limit_background(std::size_t requests) {
  const std::lock_guard lock(mutex_);
  const std::size_t before = std::exchange(background_limit_, std::max<std::size_t>(1, requests));
  if (background_limit_ == before) return;
  search_.interrupted();
  wire_freed_.notify_all();
}

std::size_t BulkWriter::Impl::background_bytes() const {
  const std::lock_guard lock(mutex_);
  return search_.setting().bytes;
}

std::vector<BulkResult> BulkWriter::Impl::take(milliseconds wait) {
  std::unique_lock lock(mutex_);
  job_ended_.wait_for(lock, wait, [this] { return !finished_.empty() || (stopping_ && busy_ == 0); });
  return std::exchange(finished_, {});
}

void BulkWriter::Impl::on_finished(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

std::size_t BulkWriter::Impl::outstanding() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() + static_cast<std::size_t>(busy_) + finished_.size();
}

BulkWriterState BulkWriter::Impl::state() const {
  const std::lock_guard lock(mutex_);
  BulkWriterState state;
  for (const auto& worker : workers_) {
    if (worker->reason.empty()) continue;
    state.waiting = true;
    state.reason = worker->reason;
  }
  state.retries = retries_;
  state.in_flight = busy_;
  state.most_in_flight = window_.requests();
  state.most_bytes = std::min(window_.bytes(), bulk_bytes_);
  return state;
}

void BulkWriter::Impl::stop(milliseconds grace) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  queue_.clear();
  job_came_.notify_all();
  stop_came_.notify_all();
  wire_freed_.notify_all();
  job_ended_.notify_all();
  job_ended_.wait_for(lock, grace, [this] { return busy_ == 0; });
  if (busy_ > 0) {
    for (const auto& worker : workers_) worker->transport->cancel();
  }
}

void BulkWriter::Impl::run(Worker& worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    job_came_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    ++busy_;
    lock.unlock();
    std::optional<BulkResult> result = deliver(worker, std::move(job));
    lock.lock();
    --busy_;
    if (result) finished_.push_back(std::move(*result));
    job_ended_.notify_all();
    const std::function<void()> wake = wake_;
    if (result && wake) {
      lock.unlock();
      wake();
      lock.lock();
    }
  }
}

/// The request with all its outcomes; none when stop() came first.
std::optional<BulkResult> BulkWriter::Impl::deliver(Worker& worker, Job job) {
  BulkDelivery delivery(std::move(job.request));
  worker.backoff.reset();
  while (true) {
    const std::size_t settled = send_round(worker, delivery, job.priority);
    if (delivery.finished()) break;
    if (!wait_for_retry(worker, delivery.reason(), settled)) return std::nullopt;
    delivery.begin_round();
  }
  BulkResult result = delivery.take_result();
  result.ticket = job.ticket;
  result.took = duration_cast<std::chrono::microseconds>(steady_clock::now() - job.submitted);
  return result;
}

/// Sends piece after piece until none is left or the server had better be left alone for a moment. Returns
/// how many items got their outcome.
std::size_t BulkWriter::Impl::send_round(Worker& worker, BulkDelivery& delivery, Priority priority) {
  std::size_t settled = 0;
  while (delivery.has_piece()) {
    std::size_t most_bytes = 0;
    const std::optional<std::uint64_t> generation = enter_wire(priority, most_bytes);
    if (!generation) break;
    const std::size_t now_settled = send_piece(worker, delivery, most_bytes);
    leave_wire(delivery, priority, *generation);
    if (now_settled > 0) note_progress(worker);
    settled += now_settled;
  }
  return settled;
}

bool BulkWriter::Impl::may_enter_wire(Priority priority) const {
  return on_wire_ < window_.requests() &&
         (priority == Priority::kNormal ||
          background_on_wire_ <
              std::min(background_limit_, static_cast<std::size_t>(search_.setting().requests)));
}

void BulkWriter::Impl::note_room(steady_clock::time_point now) {
  search_.has_room(may_enter_wire(Priority::kNormal) && may_enter_wire(Priority::kBackground), now);
}

/// Waits until there is room for one more; returns the window's generation, or none when stop() was called.
std::optional<std::uint64_t> BulkWriter::Impl::enter_wire(Priority priority, std::size_t& most_bytes) {
  std::unique_lock lock(mutex_);
  wire_freed_.wait(lock, [&] { return stopping_ || may_enter_wire(priority); });
  if (stopping_) return std::nullopt;
  ++on_wire_;
  if (priority == Priority::kBackground) ++background_on_wire_;
  note_room(steady_clock::now());
  most_bytes = window_.bytes();
  return window_.generation();
}

void BulkWriter::Impl::leave_wire(const BulkDelivery& delivery, Priority priority, std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  --on_wire_;
  if (priority == Priority::kBackground) --background_on_wire_;
  const auto now = steady_clock::now();
  note_room(now);
  switch (delivery.load()) {
    case BulkDelivery::Load::kTaken:
      window_.came_through();
      search_.came_through(delivery.piece_bytes(), now);
      break;
    case BulkDelivery::Load::kOverloaded:
      window_.overloaded(generation);
      search_.interrupted();
      break;
    case BulkDelivery::Load::kTooLarge:
      window_.too_large(delivery.piece_bytes());
      break;
    case BulkDelivery::Load::kUnknown:
      break;
  }
  wire_freed_.notify_all();
}

std::size_t BulkWriter::Impl::send_piece(Worker& worker, BulkDelivery& delivery, std::size_t most_bytes) {
  const BulkRequest& piece = delivery.next_piece(most_bytes);
  HttpRequest request;
  request.method = "POST";
  request.path = path_;
  std::string guarded;
  if (piece.guards() > 0) guarded = piece.body() + piece.guard_lines();
  request.body = guarded.empty() ? std::string_view(piece.body()) : std::string_view(guarded);
  request.content_type = "application/x-ndjson";
  request.timeout = request_timeout_;
  try {
    if (!may_send_()) throw TransportError("it is not certain that this process still leads", false);
    const HttpResponse response = worker.transport->perform(request);
    BulkReply reply = read_bulk_reply(piece, response);
    if (!response.server.empty() && !reply.reason.empty())
      reply.reason = response.server + ": " + reply.reason;
    return delivery.answered(std::move(reply));
  } catch (const TransportError& error) {
    delivery.unanswered(error.sent(), error.what());
  } catch (const std::exception& error) {
    delivery.unanswered(true, error.what());
  }
  return 0;
}

void BulkWriter::Impl::note_progress(Worker& worker) {
  worker.backoff.reset();
  const std::lock_guard lock(mutex_);
  worker.reason.clear();
  if (!std::exchange(worker.stuck, false)) return;
  if (--stuck_ == 0) end_episode();
}

/// False when stop() was called.
bool BulkWriter::Impl::wait_for_retry(Worker& worker, const std::string& reason, std::size_t settled) {
  std::unique_lock lock(mutex_);
  worker.reason = reason;
  ++retries_;
  ++episode_retries_;
  // Items put off beside others that came through are load being shed, not worth a line in the log.
  if (settled == 0 && !stopping_ && !std::exchange(worker.stuck, true) && ++stuck_ == 1)
    start_episode(reason);
  return !stop_came_.wait_for(lock, worker.backoff.next(), [this] { return stopping_; });
}

void BulkWriter::Impl::start_episode(const std::string& reason) {
  episode_began_ = steady_clock::now();
  episode_retries_ = 0;
  spdlog::warn("waiting for Elasticsearch: {}", reason);
}

void BulkWriter::Impl::end_episode() {
  const std::chrono::duration<double> lasted = steady_clock::now() - episode_began_;
  spdlog::info("Elasticsearch takes documents again after {:.1f} s and {} more tries", lasted.count(),
               episode_retries_ + 1);
}

BulkWriter::BulkWriter(const Options& options, const TransportFactory& make_transport)
    : impl_(std::make_unique<Impl>(options, make_transport)) {}
BulkWriter::~BulkWriter() = default;
bool BulkWriter::has_room() const {
  return impl_->has_room();
}
std::uint64_t BulkWriter::submit(BulkRequest request, Priority priority) {
  return impl_->submit(std::move(request), priority);
}
void BulkWriter::limit_background(std::size_t requests) {
  impl_->limit_background(requests);
}
std::size_t BulkWriter::background_bytes() const {
  return impl_->background_bytes();
}
std::vector<BulkResult> BulkWriter::take(milliseconds wait) {
  return impl_->take(wait);
}
void BulkWriter::on_finished(std::function<void()> wake) {
  impl_->on_finished(std::move(wake));
}
std::size_t BulkWriter::outstanding() const {
  return impl_->outstanding();
}
BulkWriterState BulkWriter::state() const {
  return impl_->state();
}
void BulkWriter::stop(milliseconds grace) {
  impl_->stop(grace);
}

}  // namespace lockstep
