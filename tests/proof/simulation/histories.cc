#include "tests/proof/simulation/histories.h"

#include <algorithm>

namespace lockstep::simulation {

void Histories::note(IndexId index, const std::string& id, std::int64_t commit, bool exists) {
  histories_[{index, id}].states.push_back({commit, exists});
}

std::int64_t Histories::last(IndexId index, const std::string& id) const {
  const auto found = histories_.find({index, id});
  return found == histories_.end() || found->second.states.empty() ? 0 : found->second.states.back().commit;
}

void Histories::shown(IndexId index, const std::string& id, std::int64_t commit) {
  History& history = histories_[{index, id}];
  if (commit < history.shown)
    throw Finding("a document went backwards",
                  id + ", from commit " + std::to_string(history.shown) + " to " + std::to_string(commit));
  history.shown = commit;
}

void Histories::gone(IndexId index, const std::string& id) {
  History& history = histories_[{index, id}];
  const auto next = std::ranges::find_if(
      history.states, [&](const State& state) { return !state.exists && state.commit > history.shown; });
  if (next == history.states.end())
    throw Finding("a document is gone that no commit has deleted",
                  id + ", since commit " + std::to_string(history.shown) + ", which Elasticsearch had");
  history.shown = next->commit;
}

void Histories::forget_after(std::int64_t commit) {
  for (auto& [document, history] : histories_)
    std::erase_if(history.states, [&](const State& state) { return state.commit > commit; });
}

void Histories::start_over(std::int64_t commit,
                           const std::function<bool(IndexId, const std::string&)>& exists) {
  for (auto& [document, history] : histories_) {
    history.states.push_back({commit, exists(document.first, document.second)});
    history.shown = 0;
  }
}

void Histories::forget_shown(IndexId index) {
  for (auto& [document, history] : histories_) {
    if (document.first == index) history.shown = 0;
  }
}

}  // namespace lockstep::simulation
