// Values that Lockstep has stored in Elasticsearch and decides by: of documents, and of an index's mark. A
// value of another type than wanted is an error that names the document, the field and the value, never a
// default. (For replies that are merely read, json_fields.h.)
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lockstep {

/// An object in a stored document. Each function throws Error (unfit_value) for a value of another type, and
/// those without `_if_any` for a missing one. A null counts as missing, as it does for Elasticsearch.
class StoredObject {
 public:
  /// The fields of `object`, which must outlive this. `where` is for errors: "the lock /clinton". `inside`
  /// is the name of the field that holds the object; empty for the document itself.
  StoredObject(std::string where, const nlohmann::json& object, std::string inside = {});

  std::string text(const std::string& field) const;
  std::optional<std::string> text_if_any(const std::string& field) const;

  /// A whole number; also one written as text, "12", which Elasticsearch indexes as that number.
  std::int64_t integer(const std::string& field) const;
  std::optional<std::int64_t> integer_if_any(const std::string& field) const;

  StoredObject object(const std::string& field) const;
  std::optional<StoredObject> object_if_any(const std::string& field) const;

  /// An array; empty if the field is missing.
  const nlohmann::json& array_if_any(const std::string& field) const;

  /// The object itself, to go through its fields.
  const nlohmann::json& fields() const { return *object_; }
  const std::string& where() const { return where_; }
  /// "holders.web1.until"
  std::string name_of(const std::string& field) const;

 private:
  const nlohmann::json* find(const std::string& field) const;

  std::string where_;
  const nlohmann::json* object_;
  std::string inside_;
};

/// `value` as it stands in an error: its JSON, shortened.
std::string stored_text_of(const nlohmann::json& value);

/// The `_source` of a hit or of the reply to a GET. Throws Error if the index does not keep it.
const nlohmann::json& stored_source(const std::string& where, const nlohmann::json& reply);

}  // namespace lockstep
