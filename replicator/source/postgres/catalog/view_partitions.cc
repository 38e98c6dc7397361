#include "replicator/source/postgres/catalog/view_partitions.h"

#include <algorithm>

#include "replicator/source/postgres/catalog/view_links.h"

namespace lockstep {
namespace {

// Two places may be linked by one of several conditions: then none of them is certain.
bool is_certain(const ViewLink& link, const std::vector<ViewLink>& links) {
  return std::count_if(links.begin(), links.end(), [&](const ViewLink& other) {
           return other.place == link.place && other.other == link.other;
         }) == 1;
}

bool reaches_other_documents(const ViewPartition& partition, const ViewLinks& links) {
  const std::set<ColumnOfPlace> shared = shared_columns(partition, links);
  for (const auto& [place, column] : links.documents) {
    if (partition.contains(place) && !shared.contains({place, column})) return true;
  }
  for (const ViewLink& link : links.links) {
    const bool first = partition.contains(link.place);
    if (first == partition.contains(link.other)) continue;
    for (const auto& [column, other] : link.columns) {
      if (!shared.contains(first ? ColumnOfPlace{link.place, column} : ColumnOfPlace{link.other, other}))
        return true;
    }
  }
  return false;
}

bool is_of_document(const std::vector<ColumnOfPlace>& value, const ViewLinks& links) {
  return std::all_of(value.begin(), value.end(),
                     [&](const ColumnOfPlace& column) { return links.documents.contains(column.first); });
}

}  // namespace

std::set<ColumnOfPlace> shared_columns(const ViewPartition& partition, const ViewLinks& links) {
  std::set<ColumnOfPlace> shared;
  for (const std::vector<ColumnOfPlace>& value : partition.by) shared.insert(value.begin(), value.end());
  for (bool grown = true; grown;) {
    grown = false;
    for (const ViewLink& link : links.links) {
      if (!partition.contains(link.place) || !partition.contains(link.other)) continue;
      if (!is_certain(link, links.links)) continue;
      for (const auto& [column, other] : link.columns) {
        const ColumnOfPlace some{link.place, column};
        const ColumnOfPlace equal{link.other, other};
        if (shared.contains(some) == shared.contains(equal)) continue;
        shared.insert({some, equal});
        grown = true;
      }
    }
  }
  return shared;
}

std::vector<ViewPartition> partitions_over_documents(const ViewLinks& links) {
  std::vector<ViewPartition> found;
  for (ViewPartition partition : links.partitions) {
    if (!reaches_other_documents(partition, links)) continue;
    for (const auto& [place, column] : links.documents) {
      if (partition.contains(place)) partition.deciding.insert(place);
    }
    found.push_back(std::move(partition));
  }
  return found;
}

std::vector<std::pair<std::size_t, std::set<int>>> columns_of_peers(const ViewPartition& partition,
                                                                    const ViewLinks& links) {
  if (partition.by.empty()) return {};
  auto chosen = std::find_if(partition.by.begin(), partition.by.end(),
                             [&](const auto& value) { return is_of_document(value, links); });
  if (chosen == partition.by.end()) chosen = partition.by.begin();
  std::vector<std::pair<std::size_t, std::set<int>>> columns;
  for (const auto& [place, column] : *chosen) columns.push_back({place, {column}});
  if (columns.size() > 1) return columns;
  for (const std::vector<ColumnOfPlace>& value : partition.by) {
    if (value.size() == 1 && value.front().first == columns.front().first)
      columns.front().second.insert(value.front().second);
  }
  return columns;
}

}  // namespace lockstep
