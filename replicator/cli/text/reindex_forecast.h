// The report of `reindex --dry-run` on an index: its changes, the room that they take, and how long.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/disk_space.h"
#include "replicator/source/reindexes.h"

namespace lockstep {

struct ReindexForecast {
  std::string alias;
  std::string index;                            ///< the real one
  std::vector<std::string> changes;             ///< in sentences
  std::vector<std::string> other_aliases = {};  ///< of the index, which move along
  std::int64_t documents = 0;
  std::int64_t bytes_of_copy = 0;              ///< about; 0: not known
  std::optional<std::int64_t> needed = {};     ///< bytes on disk, replicas included; none: not known
  std::optional<std::vector<NodeDisk>> disks;  ///< none: not known
  std::chrono::seconds keep{};                 ///< how long the other index is followed afterwards
  std::optional<std::int64_t> max_rate = {};   ///< documents a second
  std::optional<Pace> filled = {};             ///< the last time; none: not measured
  std::optional<Pace> compared = {};
};

/// The time for so many documents at a pace, and no faster than `max_rate` a second. None: neither is known.
std::optional<std::chrono::milliseconds> time_at(std::int64_t documents, const std::optional<Pace>& pace,
                                                 const std::optional<std::int64_t>& max_rate);

/// Lines, for people.
std::string forecast_text(const ReindexForecast& forecast);

/// One line without its end; docs/migrations.md explains its keys. Keys are added in later versions, never
/// renamed or removed.
std::string forecasts_json(const std::vector<ReindexForecast>& forecasts);

}  // namespace lockstep
