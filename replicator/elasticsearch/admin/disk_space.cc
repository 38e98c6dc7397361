#include "replicator/elasticsearch/admin/disk_space.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/error.h"

namespace lockstep {
namespace {

using nlohmann::json;

const std::string kDisk = "cluster.routing.allocation.disk.";

/// As the cluster has it: set for now, for good, or not at all. Empty: it knows no such setting.
std::string setting(const json& settings, const std::string& name) {
  for (const char* const where : {"transient", "persistent", "defaults"}) {
    std::string value = text_at(object_at(settings, where), name);
    if (!value.empty()) return value;
  }
  return "";
}

struct Amount {
  double number = 0;
  std::string unit;  ///< "%", "gb"; empty: none
};

Amount amount_of(const std::string& name, const std::string& text) {
  Amount amount;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount.number);
  if (error != std::errc())
    throw Error({"asking for the room on the nodes",
                 name + " is \"" + text + "\", which this lockstep does not know"});
  amount.unit = std::string(end, text.data() + text.size());
  std::transform(amount.unit.begin(), amount.unit.end(), amount.unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return amount;
}

/// None: it is a share.
std::optional<double> bytes_of(const std::string& name, const std::string& text) {
  const Amount amount = amount_of(name, text);
  if (amount.unit == "%" || amount.unit.empty()) return std::nullopt;
  static constexpr std::array<std::string_view, 6> kUnits = {"b", "kb", "mb", "gb", "tb", "pb"};
  const auto unit = std::find(kUnits.begin(), kUnits.end(), amount.unit);
  if (unit == kUnits.end())
    throw Error({"asking for the room on the nodes",
                 name + " is \"" + text + "\", which this lockstep does not know"});
  double bytes = amount.number;
  for (auto step = kUnits.begin(); step != unit; ++step) bytes *= 1024;
  return bytes;
}

/// The room that the high watermark keeps free of a disk of `total` bytes.
std::int64_t kept_free(const json& settings, std::int64_t total) {
  if (setting(settings, kDisk + "threshold_enabled") == "false") return 0;
  const std::string name = kDisk + "watermark.high";
  const std::string high = setting(settings, name);
  if (high.empty()) return 0;
  if (const std::optional<double> bytes = bytes_of(name, high)) return static_cast<std::int64_t>(*bytes);
  const Amount share = amount_of(name, high);
  const double used = share.unit == "%" ? share.number / 100 : share.number;
  double free = static_cast<double>(total) * (1 - used);
  const std::string headroom = setting(settings, name + ".max_headroom");
  if (!headroom.empty() && headroom != "-1") {
    if (const std::optional<double> most = bytes_of(name + ".max_headroom", headroom))
      free = std::min(free, *most);
  }
  return std::llround(free);
}

bool holds_data(const json& node) {
  const auto roles = node.find("roles");
  if (roles == node.end() || !roles->is_array()) return true;
  return std::any_of(roles->begin(), roles->end(), [](const json& role) {
    return role.is_string() && role.get_ref<const std::string&>().starts_with("data");
  });
}

}  // namespace

std::optional<std::vector<NodeDisk>> disks_of_nodes(ElasticsearchClient& client) {
  const std::string doing = "asking for the room on the nodes";
  const HttpResponse stats = client.send(doing, "GET", "/_nodes/stats/fs", {}, {403});
  const HttpResponse settings =
      client.send(doing, "GET", "/_cluster/settings?include_defaults=true&flat_settings=true", {}, {403});
  if (stats.status == 403 || settings.status == 403) return std::nullopt;
  const json known = parse_reply(doing, settings);
  const json nodes = object_at(parse_reply(doing, stats), "nodes");
  std::vector<NodeDisk> disks;
  for (const json& node : nodes) {
    const json total = object_at(object_at(node, "fs"), "total");
    const std::optional<std::int64_t> bytes = integer_at(total, "total_in_bytes");
    const std::optional<std::int64_t> available = integer_at(total, "available_in_bytes");
    if (!holds_data(node) || !bytes || !available) continue;
    disks.push_back({text_at(node, "name"), *bytes, *available, kept_free(known, *bytes)});
  }
  std::sort(disks.begin(), disks.end(), [](const NodeDisk& a, const NodeDisk& b) { return a.node < b.node; });
  return disks;
}

std::optional<std::int64_t> stored_bytes(ElasticsearchClient& client, const std::string& index) {
  const std::string doing = "asking for the size of " + index;
  const HttpResponse response =
      client.send(doing, "GET", "/" + percent_encoded(index) + "/_stats/store", {}, {403});
  if (response.status == 403) return std::nullopt;
  const json total = object_at(object_at(parse_reply(doing, response), "_all"), "total");
  return integer_at(object_at(total, "store"), "size_in_bytes");
}

std::vector<std::string> too_full_with(const std::vector<NodeDisk>& disks, std::int64_t bytes) {
  std::vector<std::string> nodes;
  if (disks.empty()) return nodes;
  const std::int64_t share = bytes / static_cast<std::int64_t>(disks.size());
  for (const NodeDisk& disk : disks) {
    if (disk.available - share < disk.kept_free) nodes.push_back(disk.node);
  }
  return nodes;
}

}  // namespace lockstep
