#include "replicator/utf8.h"

#include <nlohmann/json.hpp>

namespace lockstep {

bool is_utf8(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

}  // namespace lockstep
