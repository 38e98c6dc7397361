#include "replicator/config/key_value.h"

#include <algorithm>
#include <optional>
#include <set>

#include "replicator/config/secret.h"
#include "replicator/config/text_file.h"
#include "replicator/nearest_name.h"
#include "replicator/quantity.h"

namespace lockstep {
namespace {

std::string named(const KeySpec& spec) {
  return "\"" + std::string(spec.name) + "\"";
}

TextFault wrong_type(const KeySpec& spec, std::string_view wanted) {
  return {named(spec) + " must be " + std::string(wanted),
          "write " + std::string(spec.name) + " = " + std::string(spec.example)};
}

std::filesystem::path resolved(const std::filesystem::path& path, const std::filesystem::path& folder) {
  return std::filesystem::absolute(path.is_absolute() ? path : folder / path).lexically_normal();
}

std::optional<TextFault> range_fault(const KeySpec& spec, std::int64_t number) {
  if (number >= spec.least && number <= spec.most) return std::nullopt;
  return TextFault{named(spec) + " is out of range", "write a value from " + range_text(spec)};
}

std::variant<KeyValue, TextFault> read_choice(const KeySpec& spec, const std::string& text) {
  const auto found = std::find(spec.choices.begin(), spec.choices.end(), text);
  if (found == spec.choices.end()) {
    const auto nearest = nearest_name(text, spec.choices);
    std::string list;
    for (const std::string_view choice : spec.choices)
      list += (list.empty() ? "" : ", ") + std::string(choice);
    return TextFault{named(spec) + " cannot be \"" + text + "\"",
                     nearest ? "did you mean \"" + std::string(*nearest) + "\"?" : "it is one of " + list};
  }
  if (spec.type == ValueType::kChoice)
    return KeyValue(static_cast<std::int64_t>(found - spec.choices.begin()));
  return KeyValue(text);
}

std::variant<KeyValue, TextFault> read_text(const KeySpec& spec, const toml::node& node) {
  const auto text = node.value_exact<std::string>();
  if (!text) return wrong_type(spec, "a text");
  if (!spec.choices.empty()) return read_choice(spec, *text);
  if (text->empty()) return TextFault{named(spec) + " is empty", "fill it in or leave it out"};
  if (spec.check != nullptr) {
    TextFault fault = spec.check(*text);
    if (!fault.what.empty()) return fault;
  }
  return KeyValue(*text);
}

std::variant<KeyValue, TextFault> read_texts(const KeySpec& spec, const toml::node& node) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return wrong_type(spec, "a list of texts");
  if (array->empty()) return TextFault{named(spec) + " is empty", "fill it in or leave it out"};
  std::vector<std::string> texts;
  std::set<std::string> seen;
  for (const toml::node& element : *array) {
    auto value = read_text(spec, element);
    if (const auto* fault = std::get_if<TextFault>(&value)) return *fault;
    texts.push_back(std::get<std::string>(std::get<KeyValue>(value)));
    if (!seen.insert(texts.back()).second) {
      return TextFault{named(spec) + " has \"" + texts.back() + "\" twice", "write it once"};
    }
  }
  return KeyValue(std::move(texts));
}

std::variant<KeyValue, TextFault> read_integer(const KeySpec& spec, const toml::node& node) {
  const auto number = node.value_exact<std::int64_t>();
  if (!number) return wrong_type(spec, "a whole number");
  if (auto fault = range_fault(spec, *number)) return *fault;
  return KeyValue(*number);
}

std::variant<KeyValue, TextFault> read_share(const KeySpec& spec, const toml::node& node) {
  const auto share = node.is_number() ? node.value<double>() : std::nullopt;
  if (!share) return wrong_type(spec, "a number from 0 to 1");
  if (!(*share >= 0 && *share <= 1)) {  // nan neither
    return TextFault{named(spec) + " is out of range", "write a value from 0 to 1"};
  }
  return KeyValue(*share);
}

std::variant<KeyValue, TextFault> read_size(const KeySpec& spec, const toml::node& node) {
  auto bytes = node.value_exact<std::int64_t>();
  if (const auto text = node.value_exact<std::string>()) bytes = parse_size(*text);
  if (!bytes) return wrong_type(spec, "a size with the unit B, KiB, MiB or GiB");
  if (auto fault = range_fault(spec, *bytes)) return *fault;
  return KeyValue(*bytes);
}

std::variant<KeyValue, TextFault> read_duration(const KeySpec& spec, const toml::node& node) {
  const auto text = node.value_exact<std::string>();
  const auto duration = text ? parse_duration(*text) : std::nullopt;
  if (!duration) return wrong_type(spec, "a duration with the unit ms, s, m, h or d");
  if (auto fault = range_fault(spec, duration->count())) return *fault;
  return KeyValue(*duration);
}

// `file` is resolved from `text`.
TextFault of_configuration(TextFault fault, const std::string& text, const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::path(text).is_relative() && !std::filesystem::exists(file, error) && !error)
    fault.remedy = "check the path; a relative path starts at the folder of the configuration file";
  return fault;
}

std::variant<KeyValue, TextFault> read_file(const KeySpec& spec, const toml::node& node,
                                            const std::filesystem::path& folder) {
  const auto text = node.value_exact<std::string>();
  if (!text || text->empty()) return wrong_type(spec, "the path of a file");
  const std::filesystem::path file = resolved(*text, folder);
  const auto content = read_text_file(file);
  if (const auto* fault = std::get_if<TextFault>(&content)) return of_configuration(*fault, *text, file);
  return KeyValue(file);
}

}  // namespace

std::string range_text(const KeySpec& spec) {
  const auto text = [&](std::int64_t number) {
    if (spec.type == ValueType::kDuration) return duration_text(std::chrono::milliseconds(number));
    if (spec.type == ValueType::kSize) return size_text(number);
    return std::to_string(number);
  };
  return text(spec.least) + " to " + text(spec.most);
}

std::variant<KeyValue, TextFault> key_value(const KeySpec& spec, const toml::node& node,
                                            const std::filesystem::path& folder) {
  switch (spec.type) {
    case ValueType::kText:
    case ValueType::kChoice:
      return read_text(spec, node);
    case ValueType::kTexts:
      return read_texts(spec, node);
    case ValueType::kInteger:
      return read_integer(spec, node);
    case ValueType::kShare:
      return read_share(spec, node);
    case ValueType::kSize:
      return read_size(spec, node);
    case ValueType::kDuration:
      return read_duration(spec, node);
    case ValueType::kFile:
      return read_file(spec, node, folder);
    case ValueType::kBoolean:
      if (const auto value = node.value_exact<bool>()) return KeyValue(*value);
      return wrong_type(spec, "true or false");
    case ValueType::kSecret:
      break;
  }
  return TextFault{named(spec) + " is a secret", "write " + std::string(spec.name) + "_file"};
}

std::array<SecretForm, 3> secret_forms(std::string_view name) {
  const std::string key(name);
  return {{{SecretForm::Kind::kValue, key},
           {SecretForm::Kind::kFile, key + "_file"},
           {SecretForm::Kind::kEnvironment, key + "_env"}}};
}

std::variant<Secret, TextFault> secret_value(const SecretForm& form, const toml::node& node,
                                             const std::filesystem::path& config_file) {
  const std::string& key = form.key;
  const auto text = node.value_exact<std::string>();
  if (!text || text->empty()) return TextFault{"\"" + key + "\" must be a text", "write " + key + " = \"…\""};
  switch (form.kind) {
    case SecretForm::Kind::kFile: {
      const std::filesystem::path file = resolved(*text, config_file.parent_path());
      const auto secret = secret_from_file(file);
      if (const auto* fault = std::get_if<TextFault>(&secret)) return of_configuration(*fault, *text, file);
      return secret;
    }
    case SecretForm::Kind::kEnvironment:
      return secret_from_environment(*text);
    case SecretForm::Kind::kValue:
      break;
  }
  auto secret = checked_secret(*text, "\"" + key + "\"");
  if (const auto* found = std::get_if<Secret>(&secret)) return Secret(found->value(), config_file);
  return secret;
}

}  // namespace lockstep
