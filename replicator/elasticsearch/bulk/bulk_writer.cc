#include "replicator/elasticsearch/bulk/bulk_writer.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "replicator/elasticsearch/bulk/bulk_response.h"
#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/log/log.h"
#include "replicator/log/log_repeats.h"
#include "replicator/thread.h"
#include "replicator/warnings.h"

namespace lockstep {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

// Of a question whether an index takes writes, at most.
constexpr milliseconds kProbeTimeout{2'000};
// How often the owner looks for room that is not signalled.
constexpr milliseconds kLookForRoom{50};
// Requests of slow indices that wait for Elasticsearch alone, at most.
constexpr std::size_t kMostOfSlowIndices = 64;
// Of an _id in a message.
constexpr std::size_t kShownId = 100;
// A failure that is over so soon is worth no question.
constexpr int kRoundsBeforeProbe = 2;

/// Elasticsearch waits for a missing primary for `timeout`. It must answer for the other items soon: they are
/// in the same request.
std::string bulk_path(milliseconds request_timeout) {
  const milliseconds wait = std::min(milliseconds(5'000), request_timeout / 2);
  return "/_bulk?require_alias=true&timeout=" + std::to_string(wait.count()) +
         "ms&filter_path=" + std::string(kBulkFilterPath);
}

// Once a single document is left, the log names it.
RefusedItem named_failure(const BulkDelivery& delivery) {
  RefusedItem failure = delivery.failure();
  if (!delivery.is_singled_out() || delivery.left().size() != 1) return failure;
  const std::size_t item = delivery.left().front();
  failure.reason = "document \"" + shortened(delivery.request().items()[item].key.id.text, kShownId) +
                   "\" of index " + delivery.request().alias() + ": " + failure.reason;
  return failure;
}

}  // namespace

struct BulkWriter::Worker {
  std::unique_ptr<HttpTransport> transport;
  Backoff backoff;
  std::uint64_t ticket LOCKSTEP_GUARDED_BY(&BulkWriter::mutex_) = 0;  // of the request in hand
  /// Why the last try failed; empty if it did not.
  std::string reason LOCKSTEP_GUARDED_BY(&BulkWriter::mutex_);
  bool takes_others LOCKSTEP_GUARDED_BY(&BulkWriter::mutex_) = false;  // its index does, all the same
  bool stuck LOCKSTEP_GUARDED_BY(&BulkWriter::mutex_) = false;         // a whole round brought no outcome
  /// The piece without a reply; null: none.
  const BulkRequest* on_wire LOCKSTEP_GUARDED_BY(&BulkWriter::mutex_) = nullptr;
  SteadyTime on_wire_since LOCKSTEP_GUARDED_BY(&BulkWriter::mutex_){};
  Thread thread;
};

BulkWriter::BulkWriter(const Options& options, const TransportFactory& make_transport)
    : options_(options),
      path_(bulk_path(options.request_timeout)),
      make_transport_(make_transport),
      places_(static_cast<std::size_t>(std::max(1, options.bulks_in_flight))),
      diagnosis_(options.targets, std::min(kProbeTimeout, options.request_timeout), options.may_send),
      wire_(options.bulks_in_flight, options.bulk_bytes, SlowWrites(options.indices, options.slow_request)) {
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < 2 * places_; ++i) add_worker();
}

BulkWriter::~BulkWriter() {
  stop(milliseconds(0));
  std::vector<std::unique_ptr<Worker>> workers;
  {
    const MutexLock lock(mutex_);
    workers = std::exchange(workers_, {});
  }
  for (const auto& worker : workers) worker->thread.join();
}

void BulkWriter::add_worker() {
  workers_.push_back(std::make_unique<Worker>(Worker{
      make_transport_(), Backoff(options_.backoff, random_seed()), 0, {}, false, false, nullptr, {}, {}}));
  Worker& worker = *workers_.back();
  worker.thread = Thread([this, &worker](const std::stop_token& /*stop*/) { run(worker); });
}

bool BulkWriter::has_room() const {
  const MutexLock lock(mutex_);
  return room();
}

bool BulkWriter::has_place_for_slow() const {
  const MutexLock lock(mutex_);
  return places_given().by_slow < std::max(places_, std::min(options_.indices, kMostOfSlowIndices));
}

std::uint64_t BulkWriter::submit(BulkRequest request, Priority priority) {
  const auto submitted = steady_now();
  MutexLock lock(mutex_);
  // Room comes with time, too: when a request has taken long, or waits for its next try.
  while (!room() && !stopping_) job_ended_.wait_until(lock, steady_now() + kLookForRoom);
  const std::uint64_t ticket = next_ticket_++;
  if (!stopping_) {
    queue_.push_back({ticket, std::move(request), submitted, priority});
    if (in_hand() > workers_.size()) add_worker();
    job_came_.notify_one();
  }
  return ticket;
}

std::vector<BulkResult> BulkWriter::take(milliseconds wait) {
  MutexLock lock(mutex_);
  // A wait of no time would be a system call that puts the thread to sleep.
  if (wait > milliseconds(0))
    job_ended_.wait_for(lock, wait, [this]() LOCKSTEP_REQUIRES(mutex_) {
      return !finished_.empty() || (stopping_ && busy_ == 0);
    });
  return std::exchange(finished_, {});
}

void BulkWriter::on_finished(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

std::size_t BulkWriter::outstanding() const {
  const MutexLock lock(mutex_);
  return in_hand() + finished_.size();
}

BulkWriterState BulkWriter::state() const {
  BulkWriterState state;
  const BulkWire::Limits limits = wire_.limits();
  state.most_in_flight = limits.requests;
  state.most_bytes = limits.bytes;
  state.slow = wire_.slow_for(options_.long_request);
  const MutexLock lock(mutex_);
  const SteadyTime now = steady_now();
  for (const auto& worker : workers_) {
    if (worker->on_wire != nullptr && now - worker->on_wire_since >= options_.long_request) {
      const BulkRequest& request = *worker->on_wire;
      const auto seconds = duration_cast<std::chrono::seconds>(options_.long_request).count();
      state.unanswered = warning(
          "unanswered", {std::to_string(request.items().size()), request.alias(), std::to_string(seconds)});
    }
    if (worker->reason.empty() || worker->takes_others) continue;
    state.waiting = true;
    state.reason = worker->reason;
  }
  state.retries = retries_;
  state.in_flight = busy_;
  return state;
}

void BulkWriter::stop(milliseconds grace) {
  MutexLock lock(mutex_);
  stopping_ = true;  // before the wire closes: a request turned away there looks here
  wire_.close();
  queue_.clear();
  job_came_.notify_all();
  stop_came_.notify_all();
  job_ended_.notify_all();
  job_ended_.wait_for(lock, grace, [this]() LOCKSTEP_REQUIRES(mutex_) { return busy_ == 0; });
  if (busy_ > 0) {
    for (const auto& worker : workers_) worker->transport->cancel();
  }
}

void BulkWriter::run(Worker& worker) {
  while (true) {
    MutexLock lock(mutex_);
    job_came_.wait(lock, [this]() LOCKSTEP_REQUIRES(mutex_) { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    ++busy_;
    worker.ticket = job.ticket;
    lock.unlock();
    hand_over(deliver(worker, std::move(job)));
  }
}

void BulkWriter::hand_over(std::optional<BulkResult> result) {
  std::function<void()> wake;
  {
    const MutexLock lock(mutex_);
    if (!result || result->is_last) --busy_;
    if (result) {
      finished_.push_back(*std::move(result));
      wake = wake_;
    }
    job_ended_.notify_all();
  }
  if (wake) wake();
}

std::optional<BulkResult> BulkWriter::deliver(Worker& worker, Job job) {
  const auto signed_off = [&job](BulkResult result) {
    result.ticket = job.ticket;
    result.took = duration_cast<std::chrono::microseconds>(steady_now() - job.submitted);
    return result;
  };
  BulkDelivery delivery(std::move(job.request));
  worker.backoff.reset();
  auto last_outcome = steady_now();
  for (int round = 1;; ++round) {
    const std::size_t with_outcome = send_round(worker, job.ticket, delivery, job.priority);
    const auto now = steady_now();
    if (with_outcome > 0) last_outcome = now;
    const auto stuck = duration_cast<milliseconds>(now - last_outcome);
    bool takes_others = false;
    if (!delivery.finished() && !delivery.has_piece() && round >= kRoundsBeforeProbe) {
      const bool is_apart = delivery.is_singled_out();
      if (delivery.settled() || stuck >= options_.unsettled_patience) {
        takes_others = diagnosis_.give_back(*worker.transport, delivery, stuck >= patience(job.priority));
      } else {
        diagnosis_.single_out(*worker.transport, delivery);
      }
      // Written documents do not wait for unwritten ones: their next write may have come.
      if (!delivery.finished() && (is_apart || !takes_others)) {
        BulkResult part = signed_off(delivery.take_part());
        part.rest_is_refused = takes_others;
        hand_over(std::move(part));
      }
    }
    if (delivery.finished()) break;
    milliseconds pause = worker.backoff.next();
    // It may be put off with the next try, and others wait for that.
    if (delivery.is_singled_out() && delivery.settled() && stuck < patience(job.priority))
      pause = std::min(pause, patience(job.priority) - stuck);
    if (!wait_for_retry(worker, named_failure(delivery), with_outcome, takes_others, pause))
      return std::nullopt;
    delivery.begin_round();
  }
  note_progress(worker);
  return signed_off(delivery.take_result());
}

std::size_t BulkWriter::send_round(Worker& worker, std::uint64_t ticket, BulkDelivery& delivery,
                                   Priority priority) {
  std::size_t with_outcome = 0;
  while (delivery.has_piece()) {
    const std::optional<BulkWire::Pass> pass = wire_.enter(ticket, delivery.request(), priority);
    if (!pass) break;
    const std::size_t more = send_piece(worker, delivery, pass->most_bytes);
    wire_.leave(*pass, delivery.load(), delivery.piece_bytes());
    if (more > 0) note_progress(worker);
    with_outcome += more;
  }
  return with_outcome;
}

std::size_t BulkWriter::send_piece(Worker& worker, BulkDelivery& delivery, std::size_t most_bytes) {
  const BulkRequest& piece = delivery.next_piece(most_bytes);
  HttpRequest request;
  request.method = "POST";
  request.path = path_;
  std::string guarded;
  if (piece.needs_guard()) guarded = piece.body() + piece.guard_lines();
  request.body = guarded.empty() ? std::string_view(piece.body()) : std::string_view(guarded);
  request.content_type = "application/x-ndjson";
  request.timeout = options_.request_timeout;
  try {
    // It may not send for the reason that kept the last try from its answer.
    if (!options_.may_send()) {
      const MutexLock lock(mutex_);
      throw TransportError(worker.reason.empty()
                               ? "Elasticsearch has not confirmed for some time that this process still leads"
                               : worker.reason,
                           false);
    }
    const HttpResponse response = perform(worker, piece, request);
    BulkReply reply = read_bulk_reply(piece, response);
    diagnosis_.settle_doubts(*worker.transport, piece, reply);
    diagnosis_.note_taken(piece, reply);
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

// The request on the wire is noted, so that state() can name it.
HttpResponse BulkWriter::perform(Worker& worker, const BulkRequest& piece, const HttpRequest& request) {
  const auto note = [&](const BulkRequest* on_wire) {
    const MutexLock lock(mutex_);
    worker.on_wire = on_wire;
    worker.on_wire_since = steady_now();
  };
  note(&piece);
  try {
    HttpResponse response = worker.transport->perform(request);
    note(nullptr);
    return response;
  } catch (...) {
    note(nullptr);
    throw;
  }
}

void BulkWriter::note_progress(Worker& worker) {
  worker.backoff.reset();
  const MutexLock lock(mutex_);
  worker.reason.clear();
  note_unstuck(worker);
}

void BulkWriter::note_unstuck(Worker& worker) {
  if (!std::exchange(worker.stuck, false)) return;
  if (--stuck_ == 0) end_outage();
}

milliseconds BulkWriter::patience(Priority priority) const {
  return priority == Priority::kNormal ? options_.patience : options_.background_patience;
}

bool BulkWriter::wait_for_retry(Worker& worker, const RefusedItem& failure, std::size_t with_outcome,
                                bool takes_others, milliseconds pause) {
  MutexLock lock(mutex_);
  worker.reason = failure.reason;
  worker.takes_others = takes_others;
  if (takes_others) note_unstuck(worker);
  ++retries_;
  ++outage_retries_;
  // While other items come through, Elasticsearch only sheds load: not worth a line in the log. Nor is a
  // failure that ends with the next try, or turns out to be the fault of one document or index.
  const bool lasts = with_outcome == 0 && worker.backoff.tries() >= kRoundsBeforeProbe && !takes_others;
  if (lasts && !stopping_) {
    if (!std::exchange(worker.stuck, true) && ++stuck_ == 1) begin_outage();
    if (outage_told_ != failure.status) tell_outage(failure);
  }
  return !stop_came_.wait_for(lock, pause, [this]() LOCKSTEP_REQUIRES(mutex_) { return stopping_; });
}

bool BulkWriter::room() const {
  const Given given = places_given();
  return in_hand() <
         places_ + std::min(given.by_slow, kMostOfSlowIndices) + std::min(given.by_others, places_);
}

BulkWriter::Given BulkWriter::places_given() const {
  Given given;
  given.by_others = wire_.background_waiting();
  for (const auto& worker : workers_) {
    if (wire_.yields_slot(worker->ticket)) {
      ++given.by_slow;
    } else if (!worker->reason.empty()) {
      ++given.by_others;
    }
  }
  return given;
}

void BulkWriter::begin_outage() {
  outage_began_ = steady_now();
  outage_retries_ = 0;
  outage_told_.reset();
}

void BulkWriter::tell_outage(const RefusedItem& failure) {
  const bool refuses = failure.status == 401 || failure.status == 403;
  const LogField error("error", refuses ? "elasticsearch_refuses" : "elasticsearch_away");
  if (warn_of_trouble("waiting for Elasticsearch: " + failure.reason)) outage_told_ = failure.status;
}

void BulkWriter::end_outage() {
  const std::chrono::duration<double> lasted = steady_now() - outage_began_;
  spdlog::info("Elasticsearch takes documents again after {:.1f} s and {} more tries", lasted.count(),
               outage_retries_ + 1);
}

}  // namespace lockstep
