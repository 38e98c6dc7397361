// The seam between the Elasticsearch client and the network: one request, one reply, blocking. Tests put a
// scripted server or a fake in memory behind it.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
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
  /// Of the reply's body, unpacked. A larger reply is cut off as it comes.
  std::size_t most_reply_bytes = std::numeric_limits<std::size_t>::max();
};

struct HttpResponse {
  int status = 0;
  std::string body;
  std::string server = {};  ///< the url that replied, without credentials, for messages; may be empty
};

/// Statuses that are the answer to some requests.
inline constexpr int kNotFound = 404, kConflict = 409;

/// There was no reply: refused, reset, cut off, timed out. Unless `sent` is false, the server may have acted
/// on the request.
class TransportError : public std::runtime_error {
 public:
  TransportError(const std::string& what, bool sent) : std::runtime_error(what), sent_(sent) {}
  /// False if the request certainly reached no server (there was no connection).
  bool sent() const { return sent_; }

 private:
  bool sent_;
};

/// The reply was larger than the request allows, and was cut off. The server has acted on the request.
class ReplyTooLarge : public TransportError {
 public:
  ReplyTooLarge(const std::string& what, std::size_t bytes) : TransportError(what, true), bytes_(bytes) {}
  /// The reply has at least so many; more than the request allows.
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
};

/// Not thread-safe: one for each thread. Connections are kept alive between calls.
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;

  /// Sends the request and returns the reply, whatever its status. Throws TransportError if there is none,
  /// ReplyTooLarge if it is larger than the request allows.
  virtual HttpResponse perform(const HttpRequest& request) = 0;

  /// For shutting down, from any thread: a perform() in progress and all later ones fail at once, with a
  /// TransportError. There is no way back.
  virtual void cancel() {}
};

}  // namespace lockstep
