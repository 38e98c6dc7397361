#include "tests/proof/simulation/histories.h"

#include <algorithm>

namespace lockstep::simulation {

void Histories::note(IndexId index, const std::string& id, std::int64_t commit, bool exists) {
  histories_[{index, id}].states.push_back({commit, exists, commit});
}

bool Histories::was_refused(IndexId index, const std::string& id) const {
  const auto known = histories_.find({index, id});
  return known != histories_.end() && std::ranges::any_of(known->second.states, [this](const State& state) {
           return refused_.contains(state.made_by);
         });
}

void Histories::shown(IndexId index, Generation in, const std::string& id, std::int64_t commit) {
  std::int64_t& shown = histories_[{index, id}].shown[in];
  if (commit < shown)
    throw Finding("a document went backwards",
                  id + ", from commit " + std::to_string(shown) + " to " + std::to_string(commit));
  shown = commit;
}

void Histories::gone(IndexId index, Generation in, const std::string& id) {
  History& history = histories_[{index, id}];
  std::int64_t& shown = history.shown[in];
  const auto next = std::ranges::find_if(
      history.states, [&](const State& state) { return !state.exists && state.commit > shown; });
  if (next == history.states.end())
    throw Finding("a document is gone that no commit has deleted",
                  id + ", since commit " + std::to_string(shown) + ", which Elasticsearch had");
  shown = next->commit;
}

void Histories::promise(std::int64_t commit) {
  for (auto& [document, history] : histories_) {
    const bool is_waited_for = !history.states.empty() && history.states.back().commit <= commit;
    if (is_waited_for && !refused_.contains(history.states.back().made_by))
      history.promised = history.states.back();
  }
}

void Histories::found(IndexId index, const std::string& id, std::optional<std::int64_t> commit) const {
  const auto known = histories_.find({index, id});
  if (known == histories_.end()) return;
  const History& history = known->second;
  const State& promised = history.promised;
  if (commit && *commit < promised.made_by)
    throw Finding("a search shows a document as it was before a wait was over",
                  id + " of commit " + std::to_string(*commit) + ", not " + std::to_string(promised.made_by));
  // What both generations refuse, one has as it was before, and the other one, which was filled later, not at
  // all.
  const auto may_be_missing = [&](const State& state) {
    return state.commit >= promised.commit && (!state.exists || refused_.contains(state.made_by));
  };
  if (!commit && promised.commit > 0 && std::ranges::none_of(history.states, may_be_missing))
    throw Finding("a search does not show a document", id + " of commit " + std::to_string(promised.made_by));
}

std::vector<std::string> Histories::documents(IndexId index) const {
  std::vector<std::string> ids;
  for (const auto& [document, history] : histories_) {
    if (document.first == index) ids.push_back(document.second);
  }
  return ids;
}

void Histories::forget_after(std::int64_t commit) {
  for (auto& [document, history] : histories_)
    std::erase_if(history.states, [&](const State& state) { return state.commit > commit; });
}

void Histories::start_over(
    std::int64_t commit,
    const std::function<std::optional<std::int64_t>(IndexId, const std::string&)>& made_by) {
  for (auto& [document, history] : histories_) {
    const std::optional<std::int64_t> made = made_by(document.first, document.second);
    history.states.push_back({commit, made.has_value(), made.value_or(0)});
    history.shown.clear();
    history.promised = {};
  }
}

void Histories::forget_shown(IndexId index) {
  for (auto& [document, history] : histories_) {
    if (document.first != index) continue;
    history.shown.clear();
    history.promised = {};
  }
}

}  // namespace lockstep::simulation
