// Fields of JSON that a server wrote: absent when they are not of the type that they should be.
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

}  // namespace lockstep
