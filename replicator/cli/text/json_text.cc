#include "replicator/cli/text/json_text.h"

#include <nlohmann/json.hpp>

namespace lockstep {

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string json_string(const std::string& text) {
  return json_text(text);
}

}  // namespace lockstep
