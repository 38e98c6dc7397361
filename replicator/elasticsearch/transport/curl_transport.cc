#include "replicator/elasticsearch/transport/curl_transport.h"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "replicator/elasticsearch/transport/aws_signature.h"
#include "replicator/elasticsearch/transport/gzip_encoder.h"
#include "replicator/elasticsearch/transport/url_rotation.h"
#include "replicator/error.h"

namespace lockstep {
namespace {

constexpr long kMaxConnections = 16;
// For sending, in bytes: the smallest that libcurl takes, and one in which a bulk request leaves in few
// calls.
constexpr long kSmallBuffer = 16 * 1024;
constexpr long kLargeBuffer = 256 * 1024;
constexpr std::size_t kSmallBody = 64 * 1024;
constexpr std::size_t kLeastToCompress = 1024;  // less fits into one packet anyway
constexpr const char* kCutOff = "cut off because the program is stopping";

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct FreeText {
  void operator()(char* text) const { curl_free(text); }
};
using Headers = std::unique_ptr<curl_slist, FreeList>;

/// One of the configured servers.
struct ConfiguredServer {
  std::string url;   ///< without credentials and without a slash at the end
  std::string host;  ///< as in the header Host
  std::string path;  ///< of the url: "", "/prefix"
  std::string username;
  Secret password;
};

/// Shared by all transports of a factory; constant after construction.
struct Settings {
  std::vector<ConfiguredServer> servers;
  std::string authorization;          ///< of a header; empty: another way, or none
  std::optional<AwsCredentials> aws;  ///< requests are signed with these
  std::string ca_file;
  std::string client_cert;
  std::string client_key;
  std::chrono::milliseconds connect_timeout;
  ElasticsearchConfig::Compression compression;
};

std::string url_part(CURLU* url, CURLUPart part, unsigned flags) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, FreeText> owner(text);
  return text;
}

ConfiguredServer parse_server(const std::string& text, std::size_t number,
                              const ElasticsearchConfig& config) {
  const std::unique_ptr<CURLU, FreeUrl> url(curl_url());
  const CURLUcode code = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0);
  const std::string scheme = code == CURLUE_OK ? url_part(url.get(), CURLUPART_SCHEME, 0) : "";
  if (scheme != "http" && scheme != "https") {
    // The text may contain a password: do not show it.
    throw Error({"reading [elasticsearch] urls",
                 "the url number " + std::to_string(number + 1) + " is not an http or https url",
                 "write it like \"https://host:9200\""});
  }
  ConfiguredServer server{{}, {}, {}, config.username, config.password};
  const std::string username = url_part(url.get(), CURLUPART_USER, CURLU_URLDECODE);
  if (!username.empty()) {
    server.username = username;
    server.password = Secret(url_part(url.get(), CURLUPART_PASSWORD, CURLU_URLDECODE));
  }
  for (const CURLUPart part : {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT}) {
    curl_url_set(url.get(), part, nullptr, 0);
  }
  server.url = url_part(url.get(), CURLUPART_URL, 0);
  while (!server.url.empty() && server.url.back() == '/') server.url.pop_back();
  server.path = url_part(url.get(), CURLUPART_PATH, 0);
  while (!server.path.empty() && server.path.back() == '/') server.path.pop_back();
  server.host = url_part(url.get(), CURLUPART_HOST, 0);
  const std::string port = url_part(url.get(), CURLUPART_PORT, CURLU_NO_DEFAULT_PORT);
  if (!port.empty()) server.host += ":" + port;
  return server;
}

void append(Headers& headers, const std::string& line) {
  curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  static_cast<void>(headers.release());
  headers.reset(longer);
}

/// The body of a reply, as far as it has come.
struct Received {
  CURL* easy = nullptr;
  std::size_t most = 0;  ///< bytes
  std::string body;
  std::size_t too_many = 0;  ///< bytes that it has at least; 0: it is not too large
};

std::size_t receive(char* data, std::size_t, std::size_t size, void* into) {
  Received& received = *static_cast<Received*>(into);
  curl_off_t length = -1;  // unknown, or of compressed contents
  curl_easy_getinfo(received.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  const std::size_t bytes =
      std::max(received.body.size() + size, static_cast<std::size_t>(std::max<curl_off_t>(length, 0)));
  if (bytes > received.most) {
    received.too_many = bytes;
    return 0;  // libcurl ends the transfer
  }
  received.body.append(data, size);
  return size;
}

/// By OpenSSL's number of the certificate's fault (X509_V_…).
const char* remedy_for_certificate(CURL* easy) {
  constexpr long kFine = 0;
  constexpr long kNotAsked = 1;  // libcurl looked at the host name first
  constexpr long kNotYetValid = 9;
  constexpr long kExpired = 10;
  constexpr long kNoIssuer = 20;
  long found = kNotAsked;
  curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &found);
  switch (found) {
    case kFine:
    case kNotAsked:
      return "check the url's host name";
    case kNotYetValid:
      return "the server's certificate is not valid yet: check the clocks";
    case kExpired:
      return "the server's certificate, or its authority's, has expired: renew it";
    case kNoIssuer:
      return "check ca_file: it must have the authority that has signed the server's certificate; if it has, "
             "the server "
             "must send the certificates in between, too";
    default:
      return "check ca_file";
  }
}

/// No server at that url took the connection.
bool is_unconnected(CURLcode code) {
  return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
         code == CURLE_OPERATION_TIMEDOUT;
}

/// "connection refused": the system's reason is shorter than libcurl's; empty: there is none.
std::string reason_of_system(CURLcode code, CURL* easy) {
  long number = 0;
  if (code != CURLE_COULDNT_CONNECT || curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number) != CURLE_OK ||
      number == 0)
    return {};
  std::string reason = std::generic_category().message(static_cast<int>(number));
  if (!reason.empty()) reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return reason;
}

/// The remedy for a connection that TLS ended; null if none is known.
const char* remedy_for_tls(CURLcode code, CURL* easy) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
      return remedy_for_certificate(easy);
    case CURLE_SSL_CACERT_BADFILE:
      return "ca_file must have certificates in PEM";
    case CURLE_SSL_CERTPROBLEM:
      return "client_cert and client_key must be in PEM, and belong to each other";
    case CURLE_SSL_CONNECT_ERROR:
      return "does the server speak TLS at this port, and does it want a client_cert?";
    default:
      return nullptr;
  }
}

class CurlTransport final : public HttpTransport {
 public:
  CurlTransport(std::shared_ptr<const Settings> settings, std::size_t first);

  HttpResponse perform(const HttpRequest& request) override;
  void cancel() override;

 private:
  void set_constant_options();
  void set_request_options(const HttpRequest& request, std::string_view body, const ConfiguredServer& server);
  void set_headers(const HttpRequest& request, std::string_view body, const ConfiguredServer& server);
  CURLcode transfer();
  std::string failure(CURLcode code, const ConfiguredServer& server, const HttpRequest& request) const;

  template <typename Value>
  void set(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(easy_.get(), option, value);
    if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
    if (code != CURLE_OK) throw TransportError(curl_easy_strerror(code), false);
  }

  const std::shared_ptr<const Settings> settings_;
  UrlRotation rotation_;
  std::unique_ptr<CURLM, FreeMulti> multi_;  // destroyed after the handle in it
  std::unique_ptr<CURL, FreeEasy> easy_;
  std::optional<GzipEncoder> gzip_;
  Headers headers_;
  std::string content_type_;  // in headers_, like the next
  bool encoded_ = false;
  Received received_;
  char error_[CURL_ERROR_SIZE] = {};
  std::atomic<bool> cancelled_ = false;
  long upload_buffer_ = 0;  // bytes; 0: libcurl's own choice
};

CurlTransport::CurlTransport(std::shared_ptr<const Settings> settings, std::size_t first)
    : settings_(std::move(settings)),
      rotation_(settings_->servers.size(), first),
      multi_(curl_multi_init()),
      easy_(curl_easy_init()) {
  if (!multi_ || !easy_) throw std::bad_alloc();
  curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, kMaxConnections);
  set_constant_options();
}

void CurlTransport::set_constant_options() {
  set(CURLOPT_NOSIGNAL, 1L);
  // libcurl knows it from 7.85 on. Without it a URL still has one of the two: the configuration takes no
  // other.
  if (curl_version_info(CURLVERSION_NOW)->version_num >= 0x075500) set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_PROXY, "");
  set(CURLOPT_USERAGENT, "lockstep/" LOCKSTEP_VERSION);
  set(CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_TCP_NODELAY, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_BUFFERSIZE, 64L * 1024);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(settings_->connect_timeout.count()));
  set(CURLOPT_ERRORBUFFER, error_);
  set(CURLOPT_WRITEFUNCTION, &receive);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&received_));
  received_.easy = easy_.get();
  if (settings_->compression == ElasticsearchConfig::Compression::kGzip) {
    set(CURLOPT_ACCEPT_ENCODING, "gzip");
    gzip_.emplace();
  }
  if (!settings_->ca_file.empty()) set(CURLOPT_CAINFO, settings_->ca_file.c_str());
  if (!settings_->client_cert.empty()) set(CURLOPT_SSLCERT, settings_->client_cert.c_str());
  if (!settings_->client_key.empty()) set(CURLOPT_SSLKEY, settings_->client_key.c_str());
}

void CurlTransport::set_headers(const HttpRequest& request, std::string_view body,
                                const ConfiguredServer& server) {
  const bool encoded = body.data() != request.body.data();
  if (!headers_ || content_type_ != request.content_type || encoded_ != encoded || settings_->aws) {
    headers_.reset();
    content_type_ = request.content_type;
    encoded_ = encoded;
    append(headers_, "Content-Type: " + content_type_);
    if (encoded) append(headers_, "Content-Encoding: gzip");
    append(headers_, "Expect:");
    if (!settings_->authorization.empty()) append(headers_, "Authorization: " + settings_->authorization);
    if (settings_->aws) {
      append(headers_, "Host: " + server.host);
      const std::string path = server.path + request.path;
      for (const std::string& header :
           aws_signature(*settings_->aws, {request.method, server.host, path, body},
                         std::chrono::system_clock::now())) {
        append(headers_, header);
      }
    }
  }
  set(CURLOPT_HTTPHEADER, headers_.get());
}

void CurlTransport::set_request_options(const HttpRequest& request, std::string_view body,
                                        const ConfiguredServer& server) {
  set_headers(request, body, server);
  // Set for each request: no url gets the credentials of another.
  const bool basic = settings_->authorization.empty() && !settings_->aws && !server.username.empty();
  set(CURLOPT_USERNAME, basic ? server.username.c_str() : nullptr);
  set(CURLOPT_PASSWORD, basic ? server.password.value().c_str() : nullptr);
  set(CURLOPT_URL, (server.url + request.path).c_str());
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));

  const bool head = request.method == "HEAD";
  const bool sends_body = !body.empty() || request.method == "POST" || request.method == "PUT";
  if (sends_body) {
    // libcurl keeps the buffer, and most clients never send much.
    const long buffer = body.size() > kSmallBody ? kLargeBuffer : kSmallBuffer;
    if (std::exchange(upload_buffer_, buffer) != buffer) set(CURLOPT_UPLOAD_BUFFERSIZE, buffer);
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    set(CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
  } else {
    set(CURLOPT_HTTPGET, 1L);
  }
  set(CURLOPT_NOBODY, head ? 1L : 0L);
  set(CURLOPT_CUSTOMREQUEST, head ? nullptr : request.method.c_str());
}

HttpResponse CurlTransport::perform(const HttpRequest& request) {
  const bool compresses = gzip_ && request.body.size() >= kLeastToCompress;
  const std::string_view body = compresses ? gzip_->encode(request.body) : request.body;
  std::string failures;
  bool is_away = true;  // no server took a connection
  for (std::size_t tries = 0; tries < rotation_.count() && !cancelled_; ++tries) {
    const std::size_t chosen = rotation_.next(SystemClock().now());
    const ConfiguredServer& server = settings_->servers[chosen];
    set_request_options(request, body, server);
    received_.body.clear();
    received_.most = request.most_reply_bytes;
    received_.too_many = 0;
    error_[0] = '\0';
    const CURLcode code = transfer();
    if (received_.too_many > 0) {
      rotation_.answered(chosen);
      throw ReplyTooLarge(
          server.url + ": the reply is larger than " + std::to_string(request.most_reply_bytes) + " bytes",
          received_.too_many);
    }
    if (code == CURLE_OK) {
      rotation_.answered(chosen);
      long status = 0;
      curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
      return {static_cast<int>(status), std::exchange(received_.body, {}), server.url};
    }
    rotation_.silent(chosen, SystemClock().now());
    if (!failures.empty()) failures += "; ";
    failures += failure(code, server, request);
    long sent_bytes = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_REQUEST_SIZE, &sent_bytes);
    if (sent_bytes > 0) throw TransportError("Elasticsearch at " + failures, true);
    is_away = is_away && is_unconnected(code);
  }
  if (failures.empty() || cancelled_) throw TransportError(failures.empty() ? kCutOff : failures, false);
  if (!is_away) throw TransportError("Elasticsearch at " + failures, false);
  throw TransportError(
      "Elasticsearch does not answer at " + failures + "; start it, or correct [elasticsearch] urls", false);
}

/// As curl_easy_perform(), but cancel() can end it.
CURLcode CurlTransport::transfer() {
  if (cancelled_) return CURLE_ABORTED_BY_CALLBACK;
  curl_multi_add_handle(multi_.get(), easy_.get());
  CURLcode result = CURLE_ABORTED_BY_CALLBACK;
  int running = 1;
  while (!cancelled_) {
    CURLMcode code = curl_multi_perform(multi_.get(), &running);
    if (code == CURLM_OK && running > 0) code = curl_multi_poll(multi_.get(), nullptr, 0, 1'000, nullptr);
    if (code != CURLM_OK) {
      result = code == CURLM_OUT_OF_MEMORY ? CURLE_OUT_OF_MEMORY : CURLE_FAILED_INIT;
      break;
    }
    if (running > 0) continue;
    int left = 0;
    if (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) result = message->data.result;
    break;
  }
  curl_multi_remove_handle(multi_.get(), easy_.get());
  return result;
}

std::string CurlTransport::failure(CURLcode code, const ConfiguredServer& server,
                                   const HttpRequest& request) const {
  if (cancelled_) return server.url + ": " + kCutOff;
  std::string text = server.url + ": ";
  if (code == CURLE_OPERATION_TIMEDOUT) {
    text += "no reply within " + std::to_string(request.timeout.count()) + " ms";
    if (error_[0] != '\0') text.append(" (").append(error_).append(")");
    return text;
  }
  if (const std::string reason = reason_of_system(code, easy_.get()); !reason.empty()) return text + reason;
  text += error_[0] != '\0' ? error_ : curl_easy_strerror(code);
  if (const char* const remedy = remedy_for_tls(code, easy_.get())) text.append("; ").append(remedy);
  return text;
}

void CurlTransport::cancel() {
  cancelled_ = true;
  curl_multi_wakeup(multi_.get());
}

}  // namespace

std::string transport_libraries() {
  return curl_version();
}

std::function<std::unique_ptr<HttpTransport>()> make_transport_factory(const ElasticsearchConfig& config) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });

  auto settings = std::make_shared<Settings>();
  for (const std::string& url : config.urls) {
    settings->servers.push_back(parse_server(url, settings->servers.size(), config));
  }
  if (settings->servers.empty()) {
    throw Error({"reading [elasticsearch] urls", "no url is given", "name at least one server"});
  }
  if (!config.api_key.empty()) settings->authorization = "ApiKey " + config.api_key.value();
  if (!config.bearer_token.empty()) settings->authorization = "Bearer " + config.bearer_token.value();
  if (!config.aws_region.empty()) {
    settings->aws = AwsCredentials{config.aws_access_key_id, config.aws_secret_access_key,
                                   config.aws_session_token, config.aws_region, "es"};
  }
  settings->ca_file = config.ca_file;
  settings->client_cert = config.client_cert;
  settings->client_key = config.client_key;
  settings->connect_timeout = config.connect_timeout;
  settings->compression = config.compression;

  auto made = std::make_shared<std::atomic<std::size_t>>(0);
  return [settings, made]() -> std::unique_ptr<HttpTransport> {
    return std::make_unique<CurlTransport>(settings, (*made)++);
  };
}

}  // namespace lockstep
