#include "replicator/config/secret.h"

#include <algorithm>
#include <cstdlib>
#include <ostream>

#include "replicator/config/text_file.h"

namespace lockstep {

namespace {

constexpr std::size_t kMaxSecretBytes = std::size_t{1} << 20;

}  // namespace

std::ostream& operator<<(std::ostream& out, const Secret& secret) {
  return secret.empty() ? out : out << "(secret)";
}

std::variant<Secret, TextFault> secret_from_file(const std::filesystem::path& file) {
  auto content = read_text_file(file, Pipes::kRefused, kMaxSecretBytes);
  if (const auto* fault = std::get_if<TextFault>(&content)) return *fault;
  std::string value = std::get<std::string>(std::move(content));
  while (!value.empty() && (value.back() == '\n' || value.back() == '\r')) value.pop_back();
  auto secret = checked_secret(std::move(value), file.string());
  if (auto* found = std::get_if<Secret>(&secret)) return Secret(found->value(), file);
  return secret;
}

std::variant<Secret, TextFault> secret_from_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) {
    return TextFault{"the environment variable " + name + " is not set", "set it where lockstep is started"};
  }
  return checked_secret(value, "the environment variable " + name);
}

std::variant<Secret, TextFault> checked_secret(std::string value, const std::string& origin) {
  if (value.empty()) return TextFault{origin + " holds an empty secret", "write the secret there"};
  const bool control = std::any_of(value.begin(), value.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (control) return TextFault{origin + " holds a secret with control characters", "write one line there"};
  return Secret(std::move(value));
}

}  // namespace lockstep
