// JSON to and from a server. A field that has another type than wanted counts as absent: for replies that are
// merely read. Stored values by which Lockstep decides are read by stored_object.h.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lockstep {

/// The string at `key` of `object`, or an empty one.
std::string text_at(const nlohmann::json& object, const std::string& key);

/// The object at `key` of `object`, or an empty one.
nlohmann::json object_at(const nlohmann::json& object, const std::string& key);

/// The whole number at `key` of `object`.
std::optional<std::int64_t> integer_at(const nlohmann::json& object, const std::string& key);

/// Whether a reply is of all shards. One that is on no node counts neither as successful nor as failed.
bool is_of_all_shards(const nlohmann::json& reply);

/// As text in one line. Replaces invalid UTF-8.
std::string dumped(const nlohmann::json& json);

}  // namespace lockstep
