#include "replicator/source/view/view_paths.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace lockstep {
namespace {

using Branches = std::map<int, int>;

// What a step costs, by what its columns are. Only the order matters, and that a way along keys is cheaper
// than any other.
constexpr long kToOne = 1;      // a key of the rows that it leads to
constexpr long kToSome = 2;     // a key of the rows that it comes from
constexpr long kToMany = 1000;  // neither; or to one row and from there to all that refer to it

struct Edge {
  std::size_t from;
  std::size_t to;
  std::vector<ViewStep> alternatives;
  long cost;
};

std::set<std::string> set_of(const ColumnNames& names) {
  return {names.begin(), names.end()};
}

class PathSearch {
 public:
  explicit PathSearch(const ViewGraph& graph) : graph_(graph), begin_at_(graph.places.size()) {
    for (const ViewGraph::Link& link : graph.links) {
      add(link.place, link.other, link.columns, link.other_columns);
      add(link.other, link.place, link.other_columns, link.columns);
    }
  }

  PathsOfPlace from(std::size_t place) {
    follow_to_documents(place);
    for (const ViewGraph::Peers& peers : graph_.peers) {
      if (!peers.deciding.contains(place)) continue;
      const std::string& table = graph_.places[peers.place].table;
      PathSearch onward(graph_);
      onward.follow_to_documents(peers.place);
      for (ViewPath& rest : onward.found_.paths) {
        rest.steps.insert(rest.steps.begin(), {table, peers.columns, table, peers.columns, peers.nulls});
        follow(place, peers.place, rest, {}, &peers.among);
      }
      found_.is_reached = found_.is_reached && onward.found_.is_reached;
      found_.are_too_many = found_.are_too_many || onward.found_.are_too_many;
    }
    return std::move(found_);
  }

 private:
  using Way = std::vector<std::size_t>;  // numbers of edges

  void follow_to_documents(std::size_t place) {
    found_.is_reached = !graph_.documents.empty();
    for (const auto& [document, column] : graph_.documents)
      follow(place, document, {{}, graph_.places[document].table, column}, {}, nullptr);
  }

  // --- steps ---

  void add(std::size_t from, std::size_t to, const ColumnNames& columns, const ColumnNames& others) {
    ViewStep step{graph_.places[from].table, columns, graph_.places[to].table, others};
    const long cost = cost_of(step);
    for (const std::size_t number : begin_at_[from]) {
      Edge& edge = edges_[number];
      if (edge.to != to) continue;
      if (std::find(edge.alternatives.begin(), edge.alternatives.end(), step) == edge.alternatives.end())
        edge.alternatives.push_back(std::move(step));
      edge.cost = std::max(edge.cost, cost);
      return;
    }
    begin_at_[from].push_back(edges_.size());
    edges_.push_back({from, to, {std::move(step)}, cost});
  }

  // Leaves out of the columns what a key needs no more.
  long cost_of(ViewStep& step) const {
    if (keep_key(step, step.to, step.to_columns)) return kToOne;
    return keep_key(step, step.from, step.from_columns) ? kToSome : kToMany;
  }

  bool keep_key(ViewStep& step, const std::string& table, const ColumnNames& own) const {
    const auto keys = graph_.keys.find(table);
    if (keys == graph_.keys.end()) return false;
    const std::set<std::string> columns = set_of(own);
    const ColumnNames* best = nullptr;
    for (const ColumnNames& key : keys->second) {
      const std::set<std::string> wanted = set_of(key);
      if (!wanted.empty() && std::includes(columns.begin(), columns.end(), wanted.begin(), wanted.end()) &&
          (best == nullptr || key.size() < best->size()))
        best = &key;
    }
    if (best == nullptr) return false;
    ViewStep kept{step.from, {}, step.to, {}};
    for (const std::string& column : *best) {
      const auto at = static_cast<std::size_t>(std::find(own.begin(), own.end(), column) - own.begin());
      kept.from_columns.push_back(step.from_columns[at]);
      kept.to_columns.push_back(step.to_columns[at]);
    }
    step = std::move(kept);
    return true;
  }

  // --- ways ---

  // Adds those to one end, in the branches that are chosen so far.
  void follow(std::size_t place, std::size_t end, const ViewPath& rest, Branches chosen,
              const std::set<std::size_t>* among) {
    if (found_.are_too_many) return;
    for (const std::size_t each : {place, end}) {
      for (const auto& [number, branch] : graph_.places[each].branches) {
        if (chosen.emplace(number, branch).first->second != branch) return;  // they never count together
      }
    }
    const std::optional<Way> way = cheapest(place, end, chosen, among);
    if (!way) {
      found_.is_reached = false;
      return;
    }
    if (const std::optional<int> open = undecided(*way, chosen)) {
      for (const int branch : branches_of(*open)) {
        Branches more = chosen;
        more.emplace(*open, branch);
        follow(place, end, rest, more, among);
      }
      return;
    }
    add_paths(*way, 0, {}, rest);
  }

  std::optional<int> undecided(const Way& way, const Branches& chosen) const {
    for (const std::size_t edge : way) {
      for (const auto& [number, branch] : graph_.places[edges_[edge].to].branches) {
        if (!chosen.contains(number)) return number;
      }
    }
    return std::nullopt;
  }

  std::set<int> branches_of(int number) const {
    std::set<int> all;
    for (const ViewGraph::Place& place : graph_.places) {
      if (const auto own = place.branches.find(number); own != place.branches.end()) all.insert(own->second);
    }
    return all;
  }

  bool is_open(std::size_t place, const Branches& chosen, const std::set<std::size_t>* among) const {
    return (among == nullptr || among->contains(place)) &&
           std::all_of(chosen.begin(), chosen.end(), [&](const auto& choice) {
             const auto own = graph_.places[place].branches.find(choice.first);
             return own == graph_.places[place].branches.end() || own->second == choice.second;
           });
  }

  // From the end back, by the first edge of what is left, since its cost depends on the one before it.
  std::optional<Way> cheapest(std::size_t place, std::size_t end, const Branches& chosen,
                              const std::set<std::size_t>* among) const {
    if (place == end) return Way{};
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    struct Rest {
      long cost = std::numeric_limits<long>::max();
      std::size_t next = kNone;
    };
    std::vector<Rest> rests(edges_.size());
    for (bool grown = true; grown;) {
      grown = false;
      for (std::size_t number = 0; number < edges_.size(); ++number) {
        const Edge& edge = edges_[number];
        if (!is_open(edge.from, chosen, among) || !is_open(edge.to, chosen, among)) continue;
        const auto take = [&](const Rest& rest) {
          if (rest.cost >= rests[number].cost) return;
          rests[number] = rest;
          grown = true;
        };
        if (edge.to == end) take({edge.cost, kNone});
        for (const std::size_t next : edge.to == end ? std::vector<std::size_t>{} : begin_at_[edge.to]) {
          if (rests[next].cost == Rest().cost) continue;
          const bool over_parent = edge.cost == kToOne && edges_[next].cost == kToSome;
          take({edge.cost + (over_parent ? kToMany : 0) + rests[next].cost, next});
        }
      }
    }
    std::size_t first = kNone;
    for (const std::size_t number : begin_at_[place]) {
      if (rests[number].cost < (first == kNone ? Rest().cost : rests[first].cost)) first = number;
    }
    if (first == kNone) return std::nullopt;
    Way way;
    for (std::size_t edge = first; edge != kNone; edge = rests[edge].next) way.push_back(edge);
    return way;
  }

  // Each alternative of each edge with each of the others.
  void add_paths(const Way& way, std::size_t at, std::vector<ViewStep> steps, const ViewPath& rest) {
    if (found_.paths.size() >= kMaxPaths) {
      found_.are_too_many = true;
    } else if (at == way.size()) {
      steps.insert(steps.end(), rest.steps.begin(), rest.steps.end());
      found_.paths.push_back({std::move(steps), rest.table, rest.id_column});
    } else {
      for (const ViewStep& step : edges_[way[at]].alternatives) {
        steps.push_back(step);
        add_paths(way, at + 1, steps, rest);
        steps.pop_back();
      }
    }
  }

  const ViewGraph& graph_;
  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> begin_at_;  // by place
  PathsOfPlace found_;
};

}  // namespace

PathsOfPlace paths_from(const ViewGraph& graph, std::size_t place) {
  return PathSearch(graph).from(place);
}

std::set<std::string> unreached_tables(const ViewGraph& graph) {
  std::set<std::string> tables;
  for (std::size_t place = 0; place < graph.places.size(); ++place) {
    if (!paths_from(graph, place).is_reached) tables.insert(graph.places[place].table);
  }
  return tables;
}

}  // namespace lockstep
