#include "tests/proof/simulation/traits.h"

#include <algorithm>
#include <functional>
#include <map>

namespace lockstep::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kLongRuns = 5;  // one in so many
constexpr int kLongPace = 10;

// Places of what the program remembers of documents by their hash (recent_writes.cc).
constexpr std::size_t kPlaces = 16'384;

// Ids of which two have one place each time.
const std::vector<std::string>& ids_in_one_place() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> found;
    std::map<std::size_t, std::string> by_place;
    for (int i = 0; found.size() < 20; ++i) {
      const std::string id = "p" + std::to_string(i);
      const auto [other, is_first] = by_place.emplace(std::hash<std::string>()(id) % kPlaces, id);
      if (!is_first) found.insert(found.end(), {other->second, id});
    }
    return found;
  }();
  return ids;
}

std::vector<std::string> draw_posts(Lot& lot) {
  if (lot.one_in(4)) return ids_in_one_place();
  const int number = lot.one_of(std::vector<int>{4, 30, 30, 100});
  std::vector<std::string> ids;
  for (int i = 0; i < number; ++i) ids.push_back("p" + std::to_string(i));
  return ids;
}

std::vector<Write> draw_writes(Lot& lot) {
  std::map<Write, int> often{{Write::kPutPost, 18}, {Write::kDeletePost, 3}, {Write::kRename, 3},
                             {Write::kPutFile, 6},  {Write::kDeleteFile, 3}, {Write::kPutAll, 3},
                             {Write::kTruncate, 1}, {Write::kPutRefused, 1}};
  if (lot.one_in(3)) often[Write::kDeletePost] = 18;
  if (lot.one_in(4)) often[Write::kTruncate] = 8;
  for (const Write write : {Write::kRename, Write::kPutAll, Write::kTruncate, Write::kPutRefused}) {
    if (lot.one_in(3)) often[write] = 0;
  }
  std::vector<Write> writes;
  for (const auto& [write, times] : often) writes.insert(writes.end(), times, write);
  return writes;
}

// Documents that are deleted, and not written again soon.
void come_late(Traits& traits) {
  traits.comes_late = traits.network.all_take_long = true;
  traits.source_fails = traits.indices_change = false;
  traits.weathers = {Weather::kHanging};
  std::erase(traits.writes, Write::kTruncate);
  std::erase(traits.writes, Write::kPutAll);
  std::erase(traits.writes, Write::kRename);
  traits.writes.insert(traits.writes.end(), 12, Write::kDeletePost);
}

std::vector<Weather> draw_weathers(Lot& lot) {
  std::vector<Weather> all;
  for (int i = 1; i < kWeathers; ++i) all.push_back(static_cast<Weather>(i));
  if (lot.one_in(4)) return all;
  std::vector<Weather> some;
  for (std::uint32_t left = 1 + lot.below(3); left > 0; --left) some.push_back(lot.one_of(all));
  return some;
}

}  // namespace

bool Traits::has(Write write) const {
  return std::ranges::find(writes, write) != writes.end();
}

Traits draw_traits(Lot lot, std::chrono::seconds load) {
  Traits traits;
  traits.pace = lot.one_in(kLongRuns) ? kLongPace : 1;
  // What is wrong only until the next write is found at the end of a run: so many are short.
  traits.load = lot.one_in(2) ? load : std::max(load / 5, 1s);
  traits.posts = draw_posts(lot);
  traits.writes = draw_writes(lot);
  traits.between_writes = lot.one_of(std::vector{60ms, 60ms, 600ms});
  traits.weathers = draw_weathers(lot);
  if (lot.one_in(2)) traits.bad_index = lot.one_in(2) ? "posts" : "files";
  // Whether one index is in nobody's way is seen where nothing else is wrong.
  if (lot.one_in(4)) traits.weathers = {lot.one_in(2) ? Weather::kSlowIndex : Weather::kBlocked};
  traits.between_deaths = lot.one_of(std::vector{0ms, 6'000ms, 6'000ms, 2'000ms});
  traits.source_fails = lot.one_in(4);
  traits.indices_change = lot.one_in(4);
  const bool comes_late = lot.one_in(6);
  if (comes_late) come_late(traits);
  traits.measures_memory = lot.one_in(10);
  traits.network.loses_what_the_alias_left = traits.reindexes =
      !traits.source_fails && !traits.indices_change && lot.one_in(2);
  traits.moves_aliases = traits.reindexes && !lot.one_in(4);
  traits.request_timeout = lot.one_of(std::vector{5'000ms, 5'000ms, 30'000ms});
  traits.network.slow_index = traits.request_timeout * 9 / 10;
  traits.network.one_hangs_in = comes_late ? 3 : lot.one_of(std::vector<std::uint32_t>{3, 10});
  traits.network.blocked_as = lot.below(4);
  traits.network.one_shard_is_busy = lot.one_in(2);
  traits.network.largest_whole = 400 + lot.below(1'200);
  // Which rows a truncate or a restore has taken no change says, so a write of a dead leader that lands after
  // the second look of the sweep stays (docs/reliability.md, "Attacks with requests that land late").
  const bool names_all = !traits.has(Write::kTruncate) && !traits.source_fails && !traits.indices_change;
  if (names_all) traits.network.arrives_within = 540s;
  return traits;
}

}  // namespace lockstep::simulation
