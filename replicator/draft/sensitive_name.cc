#include "replicator/draft/sensitive_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 27> kWords = {
    "password", "passwords", "passwd",  "pwd",        "passphrase",  "passcode", "token",
    "tokens",   "secret",    "secrets", "hash",       "salt",        "digest",   "apikey",
    "otp",      "totp",      "pin",     "credential", "credentials", "ssn",      "iban",
    "card",     "cvv",       "cvc",     "passport",   "fingerprint", "biometric"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kPairs = {{{"api", "key"},
                                                                                  {"private", "key"},
                                                                                  {"access", "key"},
                                                                                  {"recovery", "codes"},
                                                                                  {"social", "security"},
                                                                                  {"account", "number"},
                                                                                  {"national", "id"},
                                                                                  {"tax", "id"}}};

// "userAPIKey_2" → "user", "api", "key".
std::vector<std::string> words_of(std::string_view name) {
  const auto is = [](int (*kind)(int), char c) { return kind(static_cast<unsigned char>(c)) != 0; };
  std::vector<std::string> words;
  bool is_inside = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is(std::isalpha, c)) {
      is_inside = false;
      continue;
    }
    const bool rises = is(std::isupper, c) && i > 0 && is(std::islower, name[i - 1]);
    const bool ends_capitals = is(std::isupper, c) && i > 0 && is(std::isupper, name[i - 1]) &&
                               i + 1 < name.size() && is(std::islower, name[i + 1]);
    if (!is_inside || rises || ends_capitals) words.emplace_back();
    is_inside = true;
    words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

}  // namespace

bool looks_sensitive(std::string_view column) {
  const std::vector<std::string> words = words_of(column);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (std::find(kWords.begin(), kWords.end(), words[i]) != kWords.end()) return true;
    const bool has_pair = std::any_of(kPairs.begin(), kPairs.end(), [&](const auto& pair) {
      return i + 1 < words.size() && words[i] == pair.first && words[i + 1] == pair.second;
    });
    if (has_pair) return true;
  }
  return false;
}

}  // namespace lockstep
