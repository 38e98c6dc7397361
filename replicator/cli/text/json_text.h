// JSON in what verbs print: texts that would otherwise break lines and columns.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lockstep {

/// On one line; what is no UTF-8 is replaced.
inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

inline std::string json_string(const std::string& text) {
  return json_text(text);
}

}  // namespace lockstep
