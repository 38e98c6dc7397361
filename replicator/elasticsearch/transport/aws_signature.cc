#include "replicator/elasticsearch/transport/aws_signature.h"

#include <fmt/chrono.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <new>
#include <utility>

#include "replicator/elasticsearch/transport/sha256.h"

namespace lockstep {
namespace {

Sha256 hmac(std::string_view key, std::string_view text) {
  Sha256 digest;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(), digest.data(),
           nullptr) == nullptr) {
    throw std::bad_alloc();
  }
  return digest;
}

Sha256 hmac(const Sha256& key, std::string_view text) {
  return hmac(bytes_of(key), text);
}

std::string hex(const Sha256& digest) {
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

// As AWS does it: everything but letters, digits and "-_.~" becomes %XX. `kept` stays as it is.
std::string encoded(std::string_view text, std::string_view kept = {}) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 ||
                                       std::string_view("-_.~").find(c) != std::string_view::npos);
    if (plain || kept.find(c) != std::string_view::npos) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", byte);
    }
  }
  return result;
}

// Anything but an escape stays as it is.
std::string decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 2);
    const char* end = digits.data() + digits.size();
    if (text[i] == '%' && digits.size() == 2 && std::from_chars(digits.data(), end, byte, 16).ptr == end) {
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

// The parameters decoded and encoded again, so that "a,b" and "a%2Cb" are the same, and sorted.
std::string canonical_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  while (!query.empty()) {
    const std::string_view parameter = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(parameter.size() + 1, query.size()));
    if (parameter.empty()) continue;
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    parameters.emplace_back(encoded(decoded(parameter.substr(0, equals))),
                            encoded(decoded(parameter.substr(std::min(equals + 1, parameter.size())))));
  }
  std::sort(parameters.begin(), parameters.end());
  std::string canonical;
  for (const auto& [name, value] : parameters) {
    canonical.append(canonical.empty() ? "" : "&").append(name).append("=").append(value);
  }
  return canonical;
}

}  // namespace

std::vector<std::string> aws_signature(const AwsCredentials& credentials, const RequestToSign& request,
                                       std::chrono::system_clock::time_point now) {
  const std::tm utc = fmt::gmtime(std::chrono::floor<std::chrono::seconds>(now));
  const std::string date = fmt::format("{:%Y%m%d}", utc);
  const std::string time = fmt::format("{:%Y%m%dT%H%M%SZ}", utc);
  const std::string body_hash = hex(sha256(request.body));
  const std::string& token = credentials.session_token.value();

  std::string headers =
      fmt::format("host:{}\nx-amz-content-sha256:{}\nx-amz-date:{}\n", request.host, body_hash, time);
  std::string names = "host;x-amz-content-sha256;x-amz-date";
  if (!token.empty()) {
    headers += "x-amz-security-token:" + token + "\n";
    names += ";x-amz-security-token";
  }
  const std::size_t question = std::min(request.path.find('?'), request.path.size());
  const std::string_view query = request.path.substr(std::min(question + 1, request.path.size()));
  // The path is encoded as it stands, escapes too: every service but S3 wants it twice.
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, encoded(request.path.substr(0, question), "/"),
                  canonical_query(query), headers, names, body_hash);

  const std::string scope =
      fmt::format("{}/{}/{}/aws4_request", date, credentials.region, credentials.service);
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, hex(sha256(canonical)));
  Sha256 key = hmac("AWS4" + credentials.secret_access_key.value(), date);
  for (const std::string& part : {credentials.region, credentials.service, std::string("aws4_request")}) {
    key = hmac(key, part);
  }
  std::vector<std::string> signature = {
      "X-Amz-Date: " + time, "X-Amz-Content-Sha256: " + body_hash,
      fmt::format("Authorization: AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
                  credentials.access_key_id.value(), scope, names, hex(hmac(key, to_sign)))};
  if (!token.empty()) signature.push_back("X-Amz-Security-Token: " + token);
  return signature;
}

}  // namespace lockstep
