#include "replicator/utf8.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

bool is_utf8(std::string_view text) {
  if (is_ascii(text)) return true;
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

std::string as_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  const std::string json =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(json).get<std::string>();
}

}  // namespace lockstep
