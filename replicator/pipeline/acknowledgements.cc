#include "replicator/pipeline/acknowledgements.h"

#include <utility>

namespace lockstep {

StepId Acknowledgements::add(Lane lane, std::size_t bulks, StepEnd end) {
  LaneState& state = lanes_[lane];
  const StepId id{lane, state.first + state.steps.size()};
  rows_added_ += end.rows;
  state.steps.push_back(Step{bulks, std::move(end), bulks > 0});
  advance(lane);
  return id;
}

void Acknowledgements::bulk_added(StepId step) {
  LaneState& state = lanes_.at(step.lane);
  ++state.steps.at(step.number - state.first).bulks;
}

void Acknowledgements::bulk_done(StepId step) {
  LaneState& state = lanes_.at(step.lane);
  --state.steps.at(step.number - state.first).bulks;
  advance(step.lane);
}

std::size_t Acknowledgements::bulks_left(StepId step) const {
  const LaneState& state = lanes_.at(step.lane);
  return state.steps.at(step.number - state.first).bulks;
}

bool Acknowledgements::is_first(StepId step) const {
  return lanes_.at(step.lane).first == step.number;
}

void Acknowledgements::advance(Lane lane) {
  LaneState& state = lanes_.at(lane);
  while (!state.steps.empty() && state.steps.front().bulks == 0) {
    StepEnd& end = state.steps.front().end;
    rows_ += end.rows;
    if (lane == Lane::tail() && state.steps.front().writes)
      delays_.add(steady_now() - end.oldest_change, end.rows);
    if (end.position) position_ = std::move(end.position);
    if (end.progress) {
      JobProgress& job = jobs_[end.progress->job];
      end.progress->done_documents += job.done_documents;
      if (!end.progress->total) end.progress->total = job.total;
      job = std::move(*end.progress);
    }
    pages_.insert(pages_.end(), end.written.begin(), end.written.end());
    state.steps.pop_front();
    ++state.first;
  }
  // Jobs come and go; no StepId of a lane without steps is in use.
  if (state.steps.empty()) lanes_.erase(lane);
}

Acknowledged Acknowledgements::take() {
  Acknowledged news;
  news.position = std::exchange(position_, std::nullopt);
  for (auto& [id, progress] : jobs_) news.jobs.push_back(std::move(progress));
  jobs_.clear();
  news.written_pages = std::exchange(pages_, {});
  return news;
}

DelayHistogram Acknowledgements::take_delays() {
  return std::exchange(delays_, {});
}

const StepEnd& Acknowledgements::end_of(StepId step) const {
  const LaneState& state = lanes_.at(step.lane);
  return state.steps.at(step.number - state.first).end;
}

std::size_t Acknowledgements::open(Lane lane) const {
  const auto state = lanes_.find(lane);
  return state == lanes_.end() ? 0 : state->second.steps.size();
}

std::optional<SteadyTime> Acknowledgements::oldest_change() const {
  const auto tail = lanes_.find(Lane::tail());
  if (tail == lanes_.end() || tail->second.steps.empty()) return std::nullopt;
  return tail->second.steps.front().end.oldest_change;
}

}  // namespace lockstep
