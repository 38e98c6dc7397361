// The seam between the Elasticsearch client and the network: one request, one reply, blocking. Tests put a
// scripted server or an in-memory fake behind it.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lockstep {

struct HttpRequest {
  std::string method;     ///< GET, PUT, POST, DELETE, HEAD
  std::string path;       ///< with query string, already percent-encoded, beginning with '/'
  std::string_view body;  ///< must outlive the call; empty: no body
  std::string_view content_type = "application/json";
  std::chrono::milliseconds timeout{60'000};
};

struct HttpResponse {
  int status = 0;
  std::string body;
  std::string server = {};  ///< which url replied, without credentials, for messages; may be empty
};

/// No reply was had: refused, reset, cut off, timed out. Whether the server acted on the request is unknown
/// unless `sent` is false.
class TransportError : public std::runtime_error {
 public:
  TransportError(const std::string& what, bool sent) : std::runtime_error(what), sent_(sent) {}
  /// False when the request certainly did not reach a server (no connection was made).
  bool sent() const { return sent_; }

 private:
  bool sent_;
};

/// Not thread-safe: one for each thread. Connections are kept alive between calls.
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;

  /// Sends the request and returns the reply whatever its status. Throws TransportError when there was none.
  virtual HttpResponse perform(const HttpRequest& request) = 0;

  /// From any thread, for shutting down: ends a perform() in progress, and lets later ones fail at once, with
  /// a TransportError. There is no way back.
  virtual void cancel() {}
};

}  // namespace lockstep
