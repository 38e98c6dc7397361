#include "replicator/pipeline/freshness.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using Json = nlohmann::ordered_json;

constexpr milliseconds kStepTime = Freshness::kStep;
// If the clocks of two leaders differ, a step has time of its neighbour, too.
constexpr milliseconds kMostInStep = 2 * kStepTime;

std::int64_t step_of(std::chrono::sys_time<milliseconds> at) {
  return std::chrono::floor<std::chrono::minutes>(at.time_since_epoch()) / Freshness::kStep;
}

std::chrono::sys_time<milliseconds> begin_of(std::int64_t step) {
  return std::chrono::sys_time<milliseconds>(step * kStepTime);
}

std::int64_t step_named(const std::string& text) {
  std::int64_t step = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, step).ptr != end) throw std::invalid_argument("no step: " + text);
  return step;
}

}  // namespace

double FreshnessReport::share() const {
  return 1 - static_cast<double>(missed.count()) / static_cast<double>(known.count());
}

Json to_json(const std::optional<FreshnessReport>& report) {
  if (!report) return nullptr;
  const auto seconds = [](milliseconds time) { return std::chrono::duration<double>(time).count(); };
  return {{"lag_seconds", seconds(report->objective)},
          {"share", report->share()},
          {"known_seconds", seconds(report->known)}};
}

Freshness::Freshness(milliseconds objective, WallTime now)
    : objective_(objective), since_(std::chrono::floor<milliseconds>(now)), until_(since_) {}

std::optional<Freshness> Freshness::published(const std::string& document, milliseconds age, WallTime now) {
  const Json parsed = Json::parse(document);
  if (!parsed.contains("slo")) return std::nullopt;
  const Json& slo = parsed.at("slo");
  try {
    Freshness read(milliseconds(slo.at("lag_ms").get<std::int64_t>()), now);
    read.since_ = Time(milliseconds(slo.at("since_ms").get<std::int64_t>()));
    read.until_ = Time(milliseconds(slo.at("until_ms").get<std::int64_t>()));
    for (const auto& [step, missed] : slo.at("missed_ms").items())
      read.missed_[step_named(step)] = milliseconds(missed.get<std::int64_t>());
    const auto fits = [](const auto& step) {
      return step.second > milliseconds(0) && step.second <= kMostInStep;
    };
    if (read.objective_ <= milliseconds(0) || read.since_ > read.until_ ||
        !std::all_of(read.missed_.begin(), read.missed_.end(), fits))
      throw std::invalid_argument("no lockstep publishes such numbers");
    read.move_to(std::chrono::floor<milliseconds>(now) - age);
    return read;
  } catch (const std::exception&) {
    throw unfit_value("lockstep's table pipeline_status", "document.slo", slo.dump(),
                      "what a leader publishes of its objective");
  }
}

void Freshness::move_to(Time other) {
  const milliseconds shift = other - until_;
  const std::int64_t steps = std::llround(static_cast<double>(shift.count()) / kStepTime.count());
  std::map<std::int64_t, milliseconds> moved;
  for (const auto& [step, missed] : missed_) moved[step + steps] = missed;
  missed_ = std::move(moved);
  since_ += shift;
  until_ = other;
}

Json Freshness::json() const {
  Json missed = Json::object();
  for (const auto& [step, time] : missed_) missed[std::to_string(step)] = time.count();
  return {{"lag_ms", objective_.count()},
          {"since_ms", since_.time_since_epoch().count()},
          {"until_ms", until_.time_since_epoch().count()},
          {"missed_ms", missed}};
}

void Freshness::note(WallTime at, bool met) {
  const Time to = std::chrono::floor<milliseconds>(at);
  if (until_ - to > kNoteCovers) move_to(to);
  if (to <= until_) return;
  if (!met || to - until_ > kNoteCovers) miss(until_, to);
  until_ = to;
  missed_.erase(missed_.begin(), missed_.lower_bound(step_of(to) - kSteps + 1));
}

void Freshness::miss(Time from, Time to) {
  from = std::max(from, begin_of(step_of(to) - kSteps + 1));
  while (from < to) {
    const std::int64_t step = step_of(from);
    const Time end = std::min(to, begin_of(step + 1));
    milliseconds& missed = missed_[step];
    missed = std::min(missed + (end - from), kMostInStep);
    from = end;
  }
}

std::optional<FreshnessReport> Freshness::report(WallTime now) const {
  Freshness then = *this;
  then.note(now, then.until_ + kNoteCovers >= now);
  const Time begin = std::max(then.since_, begin_of(step_of(then.until_) - kSteps + 1));
  if (then.until_ <= begin) return std::nullopt;
  FreshnessReport report{objective_, then.until_ - begin, {}};
  for (const auto& [step, missed] : then.missed_) report.missed += missed;
  report.missed = std::min(report.missed, report.known);
  return report;
}

}  // namespace lockstep
