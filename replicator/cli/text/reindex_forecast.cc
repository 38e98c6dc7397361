#include "replicator/cli/text/reindex_forecast.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "replicator/cli/text/json_text.h"
#include "replicator/cli/text/plan_text.h"
#include "replicator/quantity.h"
#include "replicator/service/readable.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

double in_seconds(milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::int64_t available_on(const std::vector<NodeDisk>& disks) {
  std::int64_t available = 0;
  for (const NodeDisk& disk : disks) available += disk.available;
  return available;
}

bool is_room_known(const ReindexForecast& forecast) {
  return forecast.needed && forecast.disks && !forecast.disks->empty();
}

/// Whether the nodes have room for a second copy of the index.
std::string room_text(const ReindexForecast& forecast) {
  if (!is_room_known(forecast)) {
    return "  whether the nodes have room for that is not known: the user of [elasticsearch] may not ask "
           "(monitor)\n";
  }
  const auto nodes = static_cast<std::int64_t>(forecast.disks->size());
  std::string text = "  " + readable_size(*forecast.needed) + " more on disk, replicas included; " +
                     readable_size(available_on(*forecast.disks)) + " are free on " + grouped(nodes) +
                     (nodes == 1 ? " node\n" : " nodes\n");
  for (const std::string& node : too_full_with(*forecast.disks, *forecast.needed)) {
    text += "  ! node " + node +
            " would pass its high watermark (cluster.routing.allocation.disk.watermark.high): the cluster "
            "moves shards away, and blocks indices a little later; make room first\n";
  }
  return text;
}

std::string pace_text(const char* done, const std::optional<Pace>& pace) {
  if (!pace) return "";
  return counted(pace->documents, "document") + " " + done + " in " + readable(pace->took);
}

std::string time_text(const ReindexForecast& forecast) {
  if (forecast.documents == 0) return "";
  const std::string limit =
      forecast.max_rate ? " at --max-rate " + std::to_string(*forecast.max_rate) : std::string();
  const auto filling = time_at(forecast.documents, forecast.filled, forecast.max_rate);
  const auto comparing = time_at(forecast.documents, forecast.compared, forecast.max_rate);
  if (!forecast.filled && !forecast.compared) {
    const std::string unknown = "nothing of this index has been measured yet";
    if (!filling || !comparing) return "  how long that takes is not known: " + unknown + '\n';
    return "  at least " + readable(*filling + *comparing) + " to fill and compare it" + limit + "; " +
           unknown + '\n';
  }
  std::string last = pace_text("filled", forecast.filled);
  const std::string compared = pace_text("compared", forecast.compared);
  last += (last.empty() || compared.empty() ? "" : ", ") + compared;
  if (filling && comparing)
    return "  about " + readable(*filling + *comparing) + " to fill and compare it" + limit +
           "; the last time " + last + '\n';
  return "  about " + readable(filling ? *filling : *comparing) + " to " + (filling ? "fill" : "compare") +
         " it; the last time " + last + "; " + (filling ? "comparing" : "filling") +
         " has not been measured yet\n";
}

Json number_or_null(const std::optional<milliseconds>& time) {
  return time ? Json(in_seconds(*time)) : Json(nullptr);
}

Json pace_json(const std::optional<Pace>& pace) {
  if (!pace) return nullptr;
  return {{"documents", pace->documents}, {"seconds", in_seconds(pace->took)}};
}

Json forecast_json(const ReindexForecast& forecast) {
  const bool is_known = is_room_known(forecast);
  Json json = {
      {"alias", forecast.alias},
      {"index", forecast.index},
      {"changes", forecast.changes},
      {"other_aliases", forecast.other_aliases},
      {"documents", forecast.documents},
      {"needed_bytes", forecast.needed ? Json(*forecast.needed) : Json(nullptr)},
      {"free_bytes", is_known ? Json(available_on(*forecast.disks)) : Json(nullptr)},
      {"nodes_too_full", is_known ? Json(too_full_with(*forecast.disks, *forecast.needed)) : Json(nullptr)},
      {"max_rate", forecast.max_rate ? Json(*forecast.max_rate) : Json(nullptr)},
      {"fill_seconds", number_or_null(time_at(forecast.documents, forecast.filled, forecast.max_rate))},
      {"compare_seconds", number_or_null(time_at(forecast.documents, forecast.compared, forecast.max_rate))},
      {"last_fill", pace_json(forecast.filled)},
      {"last_comparison", pace_json(forecast.compared)},
      {"keep_seconds", forecast.keep.count()},
  };
  return json;
}

}  // namespace

std::optional<milliseconds> time_at(std::int64_t documents, const std::optional<Pace>& pace,
                                    const std::optional<std::int64_t>& max_rate) {
  double longest = 0;
  if (pace)
    longest = static_cast<double>(pace->took.count()) * static_cast<double>(documents) /
              static_cast<double>(pace->documents);
  if (max_rate)
    longest = std::max(longest, 1'000 * static_cast<double>(documents) / static_cast<double>(*max_rate));
  if (!pace && !max_rate) return std::nullopt;
  return milliseconds(std::llround(longest));
}

std::string forecast_text(const ReindexForecast& forecast) {
  std::string text = forecast.alias + ": a new index alongside " + forecast.index + '\n';
  for (const std::string& change : forecast.changes) text += "  " + change + '\n';
  text += "  " + counted(forecast.documents, "document is", "documents are") + " written into it";
  if (forecast.bytes_of_copy > 0)
    text += ", about " + readable_size(forecast.bytes_of_copy) + " for each copy";
  if (!forecast.other_aliases.empty()) text += "\n  " + other_aliases_text(forecast.other_aliases);
  text += '\n' + time_text(forecast) + room_text(forecast) + "  then the alias moves, and " + forecast.index +
          " is ";
  text += forecast.keep.count() > 0 ? "followed for " + readable_left(forecast.keep) + ", then deleted"
                                    : "deleted";
  return text + '\n';
}

std::string forecasts_json(const std::vector<ReindexForecast>& forecasts) {
  Json indices = Json::array();
  for (const ReindexForecast& forecast : forecasts) indices.push_back(forecast_json(forecast));
  return json_text({{"indices", std::move(indices)}});
}

}  // namespace lockstep
