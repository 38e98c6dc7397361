#include "replicator/elasticsearch/transport/server_certificate.h"

#include <curl/curl.h>

#include <ctime>
#include <memory>
#include <string_view>

#include "replicator/error.h"

namespace lockstep {
namespace {

struct EndCurl {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
};
struct EndUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct EndText {
  void operator()(char* text) const { curl_free(text); }
};

std::string part_of(CURLU* url, CURLUPart part, unsigned flags) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  const std::unique_ptr<char, EndText> owned(text);
  return owned.get();
}

// "Expire date:Nov 22 23:44:42 2027 GMT", one of the lines that describe a certificate. None: another line.
std::optional<std::chrono::system_clock::time_point> expiry_in(std::string_view line) {
  constexpr std::string_view kName = "Expire date:";
  if (!line.starts_with(kName)) return std::nullopt;
  const std::time_t time = curl_getdate(std::string(line.substr(kName.size())).c_str(), nullptr);
  if (time < 0) return std::nullopt;
  return std::chrono::system_clock::from_time_t(time);
}

}  // namespace

std::optional<ServerCertificate> server_certificate(const std::string& url,
                                                    const ElasticsearchConfig& config) {
  const std::unique_ptr<CURLU, EndUrl> parts(curl_url());
  if (curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
      part_of(parts.get(), CURLUPART_SCHEME, 0) != "https") {
    return std::nullopt;
  }
  ServerCertificate certificate;
  certificate.server = part_of(parts.get(), CURLUPART_HOST, 0) + ":" +
                       part_of(parts.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  const std::string doing = "looking at the certificate of " + certificate.server;
  const std::unique_ptr<CURL, EndCurl> curl(curl_easy_init());
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(curl.get(), option, value); };
  set(CURLOPT_URL, ("https://" + certificate.server).c_str());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROXY, "");
  set(CURLOPT_CONNECT_ONLY, 1L);
  set(CURLOPT_CERTINFO, 1L);
  set(CURLOPT_SSL_VERIFYPEER, 0L);
  set(CURLOPT_SSL_VERIFYHOST, 0L);
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(config.connect_timeout.count()));
  if (!config.client_cert.empty()) set(CURLOPT_SSLCERT, config.client_cert.c_str());
  if (!config.client_key.empty()) set(CURLOPT_SSLKEY, config.client_key.c_str());
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK)
    throw Error({doing, curl_easy_strerror(code), "", Retry::kLater, Server::kElasticsearch});
  curl_certinfo* shown = nullptr;
  curl_easy_getinfo(curl.get(), CURLINFO_CERTINFO, &shown);
  std::optional<std::chrono::system_clock::time_point> first;
  for (int i = 0; shown != nullptr && i < shown->num_of_certs; ++i) {
    for (const curl_slist* line = shown->certinfo[i]; line != nullptr; line = line->next) {
      const auto expires = expiry_in(line->data);
      if (expires && (!first || *expires < *first)) first = expires;
    }
  }
  if (!first) throw Error({doing, "it shows no date of expiry", ""});
  certificate.expires = *first;
  return certificate;
}

}  // namespace lockstep
