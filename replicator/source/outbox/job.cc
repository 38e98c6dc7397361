#include "replicator/source/outbox/job.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

constexpr std::array<std::pair<JobKind, std::string_view>, 3> kKinds = {{
    {JobKind::kBackfill, "backfill"},
    {JobKind::kComparison, "comparison"},
    {JobKind::kSweep, "sweep"},
}};

constexpr std::string_view kScanning = "scanning";

std::string text_of(JobId job) {
  return "job " + std::to_string(job.value);
}

}  // namespace

std::string_view name_of(JobKind kind) {
  return kKinds.at(static_cast<std::size_t>(kind)).second;
}

JobKind job_kind(const std::optional<std::string>& name, JobId job) {
  for (const auto& [kind, known] : kKinds) {
    if (known == name) return kind;
  }
  throw unknown_value(text_of(job), "kind", name.value_or(""));
}

std::optional<std::string> to_text(const JobPosition& position) {
  return std::visit(
      [](const auto& at) -> std::optional<std::string> {
        using At = std::decay_t<decltype(at)>;
        if constexpr (std::is_same_v<At, NotBegun>) return std::nullopt;
        if constexpr (std::is_same_v<At, Begun>) return "";
        if constexpr (std::is_same_v<At, AfterDocument>) return at.id.text;
        if constexpr (std::is_same_v<At, Scanning>) return std::string(kScanning);
      },
      position);
}

JobPosition job_position(const std::optional<std::string>& text, JobKind kind, JobId job) {
  if (!text) return NotBegun{};
  if (text->empty()) return Begun{};
  switch (kind) {
    case JobKind::kBackfill:
    case JobKind::kComparison:
      return AfterDocument{DocumentId{*text}};
    case JobKind::kSweep:
      if (*text == kScanning) return Scanning{};
      break;
  }
  throw unknown_value(text_of(job), "position", *text);
}

bool UnfinishedJobs::contains(JobId job) const {
  const auto is_it = [&](const auto& each) { return each.id == job; };
  return std::any_of(readable.begin(), readable.end(), is_it) ||
         std::any_of(unreadable.begin(), unreadable.end(), is_it);
}

}  // namespace lockstep
