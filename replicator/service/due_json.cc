#include "replicator/service/due_json.h"

#include <nlohmann/json.hpp>

#include "replicator/service/job_rates.h"

namespace lockstep {

using Json = nlohmann::ordered_json;

std::optional<std::chrono::milliseconds> time_left(const DueList& due, double documents_per_second) {
  if (due.changes > 0) return std::nullopt;
  return time_left(0, due.documents, documents_per_second);
}

Json due_json(const std::optional<DueList>& due, double documents_per_second) {
  if (!due) return nullptr;
  const auto seconds = [](std::chrono::milliseconds time) {
    return static_cast<double>(time.count()) / 1'000;
  };
  const auto left = time_left(*due, documents_per_second);
  return {{"documents", due->documents},
          {"changes", due->changes},
          {"oldest_seconds", seconds(due->oldest_age)},
          {"reason", due->reason},
          {"documents_per_second", documents_per_second},
          {"seconds_left", left ? Json(seconds(*left)) : Json(nullptr)}};
}

}  // namespace lockstep
