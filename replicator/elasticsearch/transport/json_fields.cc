#include "replicator/elasticsearch/transport/json_fields.h"

namespace lockstep {

using nlohmann::json;

std::string text_at(const json& object, const std::string& key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

json object_at(const json& object, const std::string& key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : json::object();
}

std::optional<std::int64_t> integer_at(const json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool is_of_all_shards(const nlohmann::json& reply) {
  const nlohmann::json shards = object_at(reply, "_shards");
  return integer_at(shards, "failed") == 0 && integer_at(shards, "successful") == integer_at(shards, "total");
}

}  // namespace lockstep
