// JSON in the output of commands.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

/// On one line. Replaces bytes that are not UTF-8.
std::string json_text(const nlohmann::ordered_json& json);

/// A JSON string: no line break or tab in it breaks lines and columns.
std::string json_string(const std::string& text);

}  // namespace lockstep
