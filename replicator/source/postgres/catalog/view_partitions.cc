#include "replicator/source/postgres/catalog/view_partitions.h"

#include <algorithm>

#include "replicator/source/postgres/catalog/view_links.h"

namespace lockstep {
namespace {

bool reaches_other_documents(const ViewPartition& partition, const ViewLinks& links) {
  bool is_followed = false;
  for (const auto& [place, column] : links.documents) {
    if (!partition.contains(place)) continue;
    if (!partition.shared.contains({place, column})) return true;
    is_followed = true;
  }
  for (const ColumnOfPlace& column : links.id_columns) {
    if (!partition.contains(column.first)) continue;
    if (!partition.shared.contains(column)) return true;
    is_followed = true;
  }
  for (const ViewLink& link : links.links) {
    const bool first = partition.contains(link.place);
    if (first == partition.contains(link.other)) continue;
    for (const auto& [column, other] : link.columns) {
      if (!partition.shared.contains(first ? ColumnOfPlace{link.place, column}
                                           : ColumnOfPlace{link.other, other}))
        return true;
    }
    is_followed = true;
  }
  return !is_followed;
}

void add_shared(ViewPartition& partition, const PlaceCondition& conditions,
                const std::set<std::size_t>& optional) {
  // Two places may be linked by one of several conditions: then none of them is certain. If a row may be
  // missing, null is equal to nothing.
  const auto pass = [&](const ColumnOfPlace& from, const ColumnOfPlace& to) {
    return !optional.contains(from.first) && partition.shared.contains(from) &&
           partition.shared.insert(to).second;
  };
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [places, sets] : conditions) {
      if (!partition.contains(places.first) || !partition.contains(places.second) || sets.size() != 1)
        continue;
      for (const auto& [column, other] : sets.front()) {
        const ColumnOfPlace some{places.first, column};
        const ColumnOfPlace equal{places.second, other};
        grown = pass(some, equal) || pass(equal, some) || grown;
      }
    }
  }
}

std::set<std::size_t> connected_to(std::size_t anchor, const ViewPartition& partition,
                                   const PlaceCondition& conditions) {
  std::set<std::size_t> places{anchor};
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [pair, sets] : conditions) {
      if (!partition.contains(pair.first) || !partition.contains(pair.second) ||
          places.contains(pair.first) == places.contains(pair.second))
        continue;
      places.insert({pair.first, pair.second});
      grown = true;
    }
  }
  return places;
}

// A row that is changed by the one level is changed again by another one.
bool is_in_several_levels(std::size_t place, const std::vector<ViewPartition>& partitions) {
  std::set<std::size_t> levels;
  for (const ViewPartition& partition : partitions) {
    if (partition.deciding.contains(place)) levels.insert(partition.level);
  }
  return levels.size() > 1;
}

}  // namespace

void connect(ViewPartition& partition, const PlaceCondition& conditions,
             const std::set<std::size_t>& optional) {
  add_shared(partition, conditions, optional);
  for (const auto& [anchor, columns] : partition.anchors)
    partition.connected[anchor] = connected_to(anchor, partition, conditions);
  for (const auto& [places, sets] : conditions) {
    if (!partition.contains(places.first) || !partition.contains(places.second)) continue;
    for (const EqualColumns& columns : sets) {
      for (const auto& [column, other] : columns) {
        partition.linked[places.first].insert(column);
        partition.linked[places.second].insert(other);
      }
    }
  }
}

std::vector<ViewPartition> partitions_over_documents(const ViewLinks& links) {
  std::vector<ViewPartition> found;
  for (const ViewPartition& partition : links.partitions) {
    if (reaches_other_documents(partition, links)) found.push_back(partition);
  }
  for (ViewPartition& partition : found) {
    const std::optional<std::size_t> anchor = anchor_of(partition, links);
    for (const std::size_t place : partition.deciding) {
      if (!anchor || !partition.connected.at(*anchor).contains(place) || is_in_several_levels(place, found))
        partition.everywhere.insert(place);
    }
  }
  return found;
}

std::optional<std::size_t> anchor_of(const ViewPartition& partition, const ViewLinks& links) {
  const auto is_better = [&](const auto& some, const auto& other) {
    const auto rank = [&](std::size_t place) {
      return std::pair(links.documents.contains(place), partition.connected.at(place).size());
    };
    return rank(some.first) < rank(other.first);
  };
  const auto best = std::max_element(partition.anchors.begin(), partition.anchors.end(), is_better);
  return best == partition.anchors.end() ? std::nullopt : std::optional(best->first);
}

}  // namespace lockstep
