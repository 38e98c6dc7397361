// An in-memory _bulk endpoint with external versions, for a fake transport or a scripted HTTP server. It
// keeps the documents, so that a test can ask in the end what the index has.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lockstep {

class BulkEndpoint {
 public:
  struct Document {
    std::int64_t version = 0;
    std::string json;  ///< empty: deleted
    int writes = 0;    ///< how many writes of it were applied
    bool operator==(const Document&) const = default;
  };

  /// An item's fault: 0 for none, else the status with which the endpoint refuses the item.
  using ItemFault = std::function<int(const std::string& id)>;

  /// Applies the body's items and returns the reply's JSON. Thread-safe. Throws std::runtime_error for a body
  /// that is not a bulk.
  std::string apply(std::string_view body, const ItemFault& fault = {});

  /// By id; a deleted document stays, without JSON.
  std::map<std::string, Document> documents() const;

  /// How many items it has received.
  std::size_t items_seen() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Document> documents_;
  std::size_t items_seen_ = 0;
};

inline std::string bulk_error_type(int status) {
  switch (status) {
    case 400:
      return "mapper_parsing_exception";
    case 404:
      return "index_not_found_exception";
    case 409:
      return "version_conflict_engine_exception";
    case 429:
      return "es_rejected_execution_exception";
    default:
      return "unavailable_shards_exception";
  }
}

inline nlohmann::json bulk_refusal(int status) {
  return {{"type", bulk_error_type(status)}, {"reason", "status " + std::to_string(status)}};
}

inline std::string BulkEndpoint::apply(std::string_view body, const ItemFault& fault) {
  const std::lock_guard lock(mutex_);
  using nlohmann::json;
  json items = json::array();
  bool errors = false;
  std::istringstream lines{std::string(body)};
  for (std::string line; std::getline(lines, line);) {
    const json action = json::parse(line);
    const std::string verb = action.begin().key();
    const json& meta = action.begin().value();
    std::string source;
    if (verb == "index" && !std::getline(lines, source)) throw std::runtime_error("document missing");
    if (meta.contains("if_seq_no")) {
      errors = true;
      items.push_back({{verb, {{"_id", meta.at("_id")}, {"status", 409}, {"error", bulk_refusal(409)}}}});
      continue;
    }
    if (meta.at("version_type") != "external_gte") throw std::runtime_error("not an external version");
    ++items_seen_;

    const std::string id = meta.at("_id");
    const auto version = meta.at("version").get<std::int64_t>();
    Document& document = documents_[id];
    json item = {{"_id", id}};
    int status = fault ? fault(id) : 0;
    if (status == 0 && version < document.version) status = 409;
    if (status != 0) {
      errors = true;
      item["error"] = bulk_refusal(status);
    } else {
      const bool existed = !document.json.empty();
      document = {version, source, document.writes + 1};
      status = verb == "delete" ? (existed ? 200 : 404) : (existed ? 200 : 201);
    }
    item["status"] = status;
    items.push_back({{verb, item}});
  }
  return json{{"errors", errors}, {"items", items}}.dump();
}

inline std::map<std::string, BulkEndpoint::Document> BulkEndpoint::documents() const {
  const std::lock_guard lock(mutex_);
  return documents_;
}

inline std::size_t BulkEndpoint::items_seen() const {
  const std::lock_guard lock(mutex_);
  return items_seen_;
}

/// The number of items in a body that carry a version.
inline std::size_t count_items(std::string_view body) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = body.find("\"version_type\":", at)) != std::string_view::npos; ++at) ++count;
  return count;
}

}  // namespace lockstep
