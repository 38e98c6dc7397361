#include "replicator/source/reindexes.h"

#include <array>
#include <utility>

#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

constexpr std::array<std::pair<ReindexState, std::string_view>, 7> kStates = {{
    {ReindexState::kCreating, "creating"},
    {ReindexState::kFilling, "filling"},
    {ReindexState::kComparing, "comparing"},
    {ReindexState::kSwapping, "swapping"},
    {ReindexState::kKept, "kept"},
    {ReindexState::kDropping, "dropping"},
    {ReindexState::kFailed, "failed"},
}};

}  // namespace

std::string_view name_of(ReindexState state) {
  return kStates.at(static_cast<std::size_t>(state)).second;
}

ReindexState reindex_state(std::string_view name, ReindexId reindex) {
  for (const auto& [state, known] : kStates) {
    if (known == name) return state;
  }
  throw unknown_value("reindex " + std::to_string(reindex.value), "state", name);
}

}  // namespace lockstep
