#include "replicator/pipeline/jobs/background_share.h"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

using std::chrono::microseconds;
using namespace std::chrono_literals;

constexpr auto kAloneAfter = 1s;       // without small changes
constexpr microseconds kTarget = 8ms;  // above the least delay
constexpr microseconds kPageTarget = 8ms;
// A small change that is delayed so long has probably found no thread free.
constexpr microseconds kQueued = 16ms;
// Small changes in a row without that, before jobs may have one request more next to them.
constexpr int kCalm = 100;
constexpr auto kLeastWindow = 60s;
// Fewer documents cost more than they spare.
constexpr double kLeastDocuments = 300;
// Few, so that the least delay shows before there are many.
constexpr double kFirstInFlight = 500;
constexpr double kStep = 4;       // more documents after a small change without delay
constexpr double kBackOff = 0.2;  // cut by this share when the delay is twice the target
constexpr double kWeight = 0.2;   // of a new page in the moving average

}  // namespace

BackgroundShare::BackgroundShare(std::size_t most_requests, std::int64_t most_documents)
    : most_requests_(std::max<std::size_t>(1, most_requests)),
      most_documents_(std::max<std::int64_t>(1, most_documents)),
      in_flight_(std::min(kFirstInFlight, static_cast<double>(most_documents_))) {}

void BackgroundShare::small_change_took(microseconds took, std::size_t beside, SteadyTime now) {
  last_small_ = now;
  note_least(took, now);
  // Unused requests of jobs are no measure of the room there is. (RFC 7661)
  if (beside == 0) return;
  note_queued(took - least_);
  // A single slow one, during a flush or a merge, is no sign about the jobs.
  latest_[next_latest_++ % latest_.size()] = took;
  const microseconds delay = *std::min_element(latest_.begin(), latest_.end()) - least_;
  const double room = std::clamp(1 - static_cast<double>(delay.count()) / kTarget.count(), -1.0, 1.0);
  in_flight_ += room > 0 ? kStep * room : kBackOff * in_flight_ * room;
  const double most = static_cast<double>(most_documents_) * static_cast<double>(most_requests_);
  in_flight_ = std::clamp(in_flight_, std::min(kLeastDocuments, most), most);
}

// A small change waits for a whole page when jobs have a request on each of Elasticsearch's write threads.
// Too few meet that to show in the least of four: on two threads every tenth, and two requests wrote no
// faster than one.
void BackgroundShare::note_queued(microseconds delay) {
  if (delay > kQueued) {
    side_by_side_ = std::max<std::size_t>(1, side_by_side_ - 1);
    calm_ = 0;
  } else if (++calm_ >= kCalm) {
    side_by_side_ = std::min(side_by_side_ + 1, most_requests_);
    calm_ = 0;
  }
}

void BackgroundShare::note_least(microseconds took, SteadyTime now) {
  if (least_since_ == SteadyTime{}) least_ = least_before_ = took;
  if (now - least_since_ >= kLeastWindow) {
    least_since_ = now;
    least_ = least_before_;
    least_before_ = took;
  }
  least_ = std::min(least_, took);
  least_before_ = std::min(least_before_, took);
}

void BackgroundShare::page_took(std::int64_t documents, microseconds took) {
  if (documents <= 0) return;
  const double each = static_cast<double>(took.count()) / static_cast<double>(documents);
  document_microseconds_ += kWeight * (each - document_microseconds_);
}

std::int64_t BackgroundShare::documents(SteadyTime now) const {
  if (is_alone(now)) return most_documents_;
  const double in_time = static_cast<double>(kPageTarget.count()) / std::max(0.1, document_microseconds_);
  const double documents = std::min({in_time, in_flight_, static_cast<double>(most_documents_)});
  return std::max<std::int64_t>(1, std::llround(std::max(documents, std::min(kLeastDocuments, in_flight_))));
}

std::size_t BackgroundShare::requests(SteadyTime now) const {
  if (is_alone(now)) return most_requests_;
  const double requests = in_flight_ / static_cast<double>(documents(now));
  return std::clamp<std::size_t>(static_cast<std::size_t>(requests), 1, side_by_side_);
}

bool BackgroundShare::is_alone(SteadyTime now) const {
  return last_small_ == SteadyTime{} || now - last_small_ >= kAloneAfter;
}

}  // namespace lockstep
