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

constexpr std::array<std::pair<ReindexWish, std::string_view>, 4> kWishes = {{
    {ReindexWish::kNone, ""},
    {ReindexWish::kBack, "back"},
    {ReindexWish::kFinish, "finish"},
    {ReindexWish::kAbort, "abort"},
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

std::string_view name_of(ReindexWish wish) {
  return kWishes.at(static_cast<std::size_t>(wish)).second;
}

ReindexWish reindex_wish(std::string_view name, ReindexId reindex) {
  for (const auto& [wish, known] : kWishes) {
    if (known == name) return wish;
  }
  throw unknown_value("reindex " + std::to_string(reindex.value), "wanted", name);
}

}  // namespace lockstep
