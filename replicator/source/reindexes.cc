#include "replicator/source/reindexes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "replicator/error.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

using enum ReindexState;

constexpr std::array<std::pair<ReindexState, std::optional<ReindexState>>, 13> kWays = {{
    {kCreating, kFilling},
    {kCreating, kDropping},
    {kFilling, kComparing},
    {kFilling, kDropping},
    {kComparing, kSwapping},
    {kComparing, kDropping},
    {kSwapping, kKept},
    {kSwapping, kDropping},
    {kKept, kSwapping},
    {kKept, kDropping},
    {kDropping, kFailed},
    {kDropping, std::nullopt},
    {kFailed, std::nullopt},
}};

constexpr std::array<std::pair<ReindexState, std::string_view>, 7> kStates = {{
    {kCreating, "creating"},
    {kFilling, "filling"},
    {kComparing, "comparing"},
    {kSwapping, "swapping"},
    {kKept, "kept"},
    {kDropping, "dropping"},
    {kFailed, "failed"},
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

bool is_way(ReindexState from, std::optional<ReindexState> to) {
  return std::ranges::find(kWays, std::pair(from, to)) != kWays.end();
}

void require_way(ReindexState from, std::optional<ReindexState> to) {
  if (is_way(from, to)) return;
  throw Error({"taking a reindex from state to state", "it does not go from " + std::string(name_of(from)) +
                                                           " to " +
                                                           std::string(to ? name_of(*to) : "its end")});
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
