#include "replicator/elasticsearch/transport/stored_object.h"

#include <charconv>
#include <limits>
#include <utility>

#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxValueBytes = 100;

std::optional<std::int64_t> whole_number(const json& value) {
  std::int64_t number = 0;
  if (value.is_number_unsigned()) {
    const auto positive = value.get<std::uint64_t>();
    if (positive > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(positive);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace

StoredObject::StoredObject(std::string where, const nlohmann::json& object, std::string inside)
    : where_(std::move(where)), object_(&object), inside_(std::move(inside)) {
  if (object.is_object()) return;
  throw unfit_value(where_, inside_.empty() ? "_source" : inside_, stored_text_of(object), "an object");
}

std::string StoredObject::name_of(const std::string& field) const {
  return inside_.empty() ? field : inside_ + "." + field;
}

const json* StoredObject::find(const std::string& field) const {
  const auto found = object_->find(field);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

std::string StoredObject::text(const std::string& field) const {
  std::optional<std::string> found = text_if_any(field);
  if (!found) throw missing_value(where_, name_of(field));
  return *std::move(found);
}

std::optional<std::string> StoredObject::text_if_any(const std::string& field) const {
  const json* const found = find(field);
  if (found == nullptr) return std::nullopt;
  if (!found->is_string()) throw unfit_value(where_, name_of(field), stored_text_of(*found), "a text");
  return found->get<std::string>();
}

std::int64_t StoredObject::integer(const std::string& field) const {
  const std::optional<std::int64_t> found = integer_if_any(field);
  if (!found) throw missing_value(where_, name_of(field));
  return *found;
}

std::optional<std::int64_t> StoredObject::integer_if_any(const std::string& field) const {
  const json* const found = find(field);
  if (found == nullptr) return std::nullopt;
  if (const std::optional<std::int64_t> number = whole_number(*found)) return number;
  throw unfit_value(where_, name_of(field), stored_text_of(*found), "a whole number");
}

StoredObject StoredObject::object(const std::string& field) const {
  std::optional<StoredObject> found = object_if_any(field);
  if (!found) throw missing_value(where_, name_of(field));
  return *std::move(found);
}

std::optional<StoredObject> StoredObject::object_if_any(const std::string& field) const {
  const json* const found = find(field);
  if (found == nullptr) return std::nullopt;
  return StoredObject(where_, *found, name_of(field));
}

const json& StoredObject::array_if_any(const std::string& field) const {
  static const json kNone = json::array();
  const json* const found = find(field);
  if (found == nullptr) return kNone;
  if (!found->is_array()) throw unfit_value(where_, name_of(field), stored_text_of(*found), "a list");
  return *found;
}

std::string stored_text_of(const json& value) {
  return shortened(dumped(value), kMaxValueBytes);
}

const json& stored_source(const std::string& where, const json& reply) {
  const auto found = reply.find("_source");
  if (found != reply.end()) return *found;
  throw Error({"reading " + where, "the index does not keep the documents' _source",
               "enable _source in the mapping"});
}

}  // namespace lockstep
