// HTTP/1.1 messages over a socket, just enough to speak to Elasticsearch and to stand in front of it.
// Blocking; any thread may call shut_down() to end a call that waits.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/servers.h"

namespace lockstep::support {

/// The other side is gone, or doesn't speak HTTP.
class HttpStreamError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct HttpMessage {
  std::string start_line;  ///< "POST /_bulk HTTP/1.1" or "HTTP/1.1 200 OK"
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;  ///< whole, without transfer coding

  /// A header's value; empty when it isn't there. Names match in any case.
  std::string header(std::string_view name) const;
  void remove_header(std::string_view name);

  std::string method() const;  ///< of a request
  std::string target() const;  ///< of a request: path and query
  int status() const;          ///< of a response
};

class HttpStream {
 public:
  /// Takes the socket over.
  explicit HttpStream(int socket) : socket_(socket) {}
  ~HttpStream();
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;

  static int connect(const HostAndPort& server);

  /// The next request; none when the other side has closed. Answers "Expect: 100-continue" itself.
  std::optional<HttpMessage> read_request();

  /// The response to a request with this method.
  HttpMessage read_response(const std::string& method);

  /// Content-Length is set to fit the body, except in the answer to HEAD, which keeps what it has.
  void write_request(HttpMessage message);
  void write_response(HttpMessage message, const std::string& method);

  /// A call that waits in another thread ends with an error.
  void shut_down();

 private:
  bool fill();
  std::optional<HttpMessage> read_head();
  std::string read_line();
  std::string read_bytes(std::size_t size);
  std::string read_chunks();
  void write(const HttpMessage& message);
  void write_all(std::string_view bytes);

  int socket_;
  std::string buffer_;
  std::size_t begin_ = 0;  // what is before it in buffer_ has been read
};

}  // namespace lockstep::support
