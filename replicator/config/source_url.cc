#include "replicator/config/source_url.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

// Decodes %XX; none if an escape is cut off or not hexadecimal.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) return std::nullopt;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

// "user" or "user:password" of "scheme://user:password@host…", not decoded; empty if there is none.
std::string_view user_info(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  const std::size_t begin = scheme + 3;
  const std::string_view authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  const std::size_t at = authority.rfind('@');
  return at == std::string_view::npos ? std::string_view{} : authority.substr(0, at);
}

// Calls `use` with the name of each parameter behind the '?', decoded, and its value, as the url has it.
void for_each_parameter(std::string_view url,
                        const std::function<void(std::string_view name, std::string_view value)>& use) {
  std::size_t begin = url.find('?');
  while (begin != std::string_view::npos) {
    const std::size_t end = url.find('&', begin + 1);
    const std::string_view parameter =
        url.substr(begin + 1, end == std::string_view::npos ? end : end - begin - 1);
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    const std::string_view name = parameter.substr(0, equals);
    use(percent_decoded(name).value_or(std::string(name)),
        parameter.substr(std::min(equals + 1, parameter.size())));
    begin = end;
  }
}

// libpq's: password, sslpassword, oauth_client_secret, scram_client_key, scram_server_key.
bool is_secret(std::string_view name) {
  return name.ends_with("password") || name.ends_with("secret") || name.starts_with("scram_");
}

}  // namespace

std::optional<SeparatedUrl> separate_password(const std::string& url) {
  const std::string_view info = user_info(url);
  const std::size_t colon = info.find(':');
  if (colon == std::string_view::npos) return SeparatedUrl{url, Secret()};
  const std::optional<std::string> password = percent_decoded(info.substr(colon + 1));
  if (!password) return std::nullopt;
  SeparatedUrl separated{url, Secret(*password)};
  separated.url.erase(static_cast<std::size_t>(info.data() - url.data()) + colon, info.size() - colon);
  return separated;
}

std::string user_of_url(std::string_view url) {
  const std::string_view info = user_info(url);
  return percent_decoded(info.substr(0, info.find(':'))).value_or("");
}

bool has_password_parameter(std::string_view url) {
  bool found = false;
  for_each_parameter(url, [&](std::string_view name, std::string_view) { found |= name == "password"; });
  return found;
}

std::string url_without_secrets(const std::string& url) {
  std::string shown = url;
  // From the end, so that earlier ones keep their places.
  std::vector<std::pair<std::size_t, std::size_t>> secrets;
  const std::string_view info = user_info(url);
  if (const std::size_t colon = info.find(':'); colon != std::string_view::npos) {
    secrets.emplace_back(info.data() - url.data() + colon + 1, info.size() - colon - 1);
  }
  for_each_parameter(url, [&](std::string_view name, std::string_view value) {
    if (is_secret(name)) secrets.emplace_back(value.data() - url.data(), value.size());
  });
  for (auto secret = secrets.rbegin(); secret != secrets.rend(); ++secret) {
    shown.replace(secret->first, secret->second, "(secret)");
  }
  return shown;
}

}  // namespace lockstep
