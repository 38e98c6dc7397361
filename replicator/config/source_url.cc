#include "replicator/config/source_url.h"

#include <charconv>

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
  const std::size_t question = url.find('?');
  if (question == std::string_view::npos) return false;
  const std::string_view parameters = url.substr(question);
  return parameters.find("?password=") != std::string_view::npos ||
         parameters.find("&password=") != std::string_view::npos;
}

}  // namespace lockstep
