#include "tests/support/http_stream.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lockstep::support {
namespace {

bool same_name(std::string_view left, std::string_view right) {
  return left.size() == right.size() && strncasecmp(left.data(), right.data(), left.size()) == 0;
}

std::string word(const std::string& line, int number) {
  std::size_t begin = 0;
  for (int i = 0; i < number; ++i) begin = line.find(' ', begin) + 1;
  return line.substr(begin, line.find(' ', begin) - begin);
}

void set_content_length(HttpMessage& message) {
  message.remove_header("transfer-encoding");
  message.remove_header("content-length");
  message.headers.emplace_back("content-length", std::to_string(message.body.size()));
}

}  // namespace

std::string HttpMessage::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (same_name(key, name)) return value;
  }
  return "";
}

void HttpMessage::remove_header(std::string_view name) {
  std::erase_if(headers, [&](const auto& entry) { return same_name(entry.first, name); });
}

std::string HttpMessage::method() const {
  return word(start_line, 0);
}
std::string HttpMessage::target() const {
  return word(start_line, 1);
}
int HttpMessage::status() const {
  return std::stoi(word(start_line, 1));
}

HttpStream::~HttpStream() {
  close(socket_);
}

int HttpStream::connect(const HostAndPort& server) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* addresses = nullptr;
  const std::string port = std::to_string(server.port);
  if (getaddrinfo(server.host.c_str(), port.c_str(), &hints, &addresses) != 0) {
    throw HttpStreamError("cannot resolve " + server.host);
  }
  int descriptor = -1;
  for (const addrinfo* address = addresses; address != nullptr && descriptor < 0;
       address = address->ai_next) {
    descriptor = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
    if (descriptor >= 0 && ::connect(descriptor, address->ai_addr, address->ai_addrlen) != 0) {
      close(descriptor);
      descriptor = -1;
    }
  }
  freeaddrinfo(addresses);
  if (descriptor < 0) throw HttpStreamError("cannot connect to " + server.host + ":" + port);
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return descriptor;
}

bool HttpStream::fill() {
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  }
  char block[65536];
  ssize_t got = 0;
  do {
    got = recv(socket_, block, sizeof block, 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  buffer_.append(block, static_cast<std::size_t>(got));
  return true;
}

std::string HttpStream::read_line() {
  std::size_t searched = begin_;
  for (;;) {
    const std::size_t end = buffer_.find("\r\n", searched);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(begin_, end - begin_);
      begin_ = end + 2;
      return line;
    }
    const std::size_t kept = buffer_.size() - begin_;
    if (!fill()) throw HttpStreamError("the connection was closed in the middle of a message");
    searched = begin_ + (kept > 0 ? kept - 1 : 0);
  }
}

std::string HttpStream::read_bytes(std::size_t size) {
  while (buffer_.size() - begin_ < size) {
    if (!fill()) throw HttpStreamError("the connection was closed in the middle of a message");
  }
  std::string bytes = buffer_.substr(begin_, size);
  begin_ += size;
  return bytes;
}

std::string HttpStream::read_chunks() {
  std::string body;
  for (;;) {
    const std::size_t size = std::stoul(read_line(), nullptr, 16);
    if (size == 0) break;
    body += read_bytes(size);
    read_line();
  }
  while (!read_line().empty()) {
  }
  return body;
}

std::optional<HttpMessage> HttpStream::read_head() {
  if (begin_ == buffer_.size() && !fill()) return std::nullopt;
  HttpMessage message;
  message.start_line = read_line();
  for (std::string line = read_line(); !line.empty(); line = read_line()) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) throw HttpStreamError("not a header: " + line);
    const auto value = line.find_first_not_of(' ', colon + 1);
    message.headers.emplace_back(line.substr(0, colon), value == std::string::npos ? "" : line.substr(value));
  }
  return message;
}

std::optional<HttpMessage> HttpStream::read_request() {
  std::optional<HttpMessage> message = read_head();
  if (!message) return message;
  if (!message->header("expect").empty()) {
    write_all("HTTP/1.1 100 Continue\r\n\r\n");
    message->remove_header("expect");
  }
  if (same_name(message->header("transfer-encoding"), "chunked")) {
    message->body = read_chunks();
  } else if (const std::string length = message->header("content-length"); !length.empty()) {
    message->body = read_bytes(std::stoul(length));
  }
  return message;
}

HttpMessage HttpStream::read_response(const std::string& method) {
  std::optional<HttpMessage> message = read_head();
  if (!message) throw HttpStreamError("the connection was closed without a response");
  const int status = message->status();
  if (method == "HEAD" || status == 204 || status == 304) return *message;
  if (same_name(message->header("transfer-encoding"), "chunked")) {
    message->body = read_chunks();
  } else if (const std::string length = message->header("content-length"); !length.empty()) {
    message->body = read_bytes(std::stoul(length));
  }
  return *message;
}

void HttpStream::write_request(HttpMessage message) {
  set_content_length(message);
  write(message);
}

void HttpStream::write_response(HttpMessage message, const std::string& method) {
  if (method != "HEAD") set_content_length(message);
  write(message);
}

void HttpStream::write(const HttpMessage& message) {
  std::string head = message.start_line + "\r\n";
  for (const auto& [name, value] : message.headers)
    head.append(name).append(": ").append(value).append("\r\n");
  head += "\r\n";
  if (message.body.size() < 16384) {
    write_all(head + message.body);
  } else {
    write_all(head);
    write_all(message.body);
  }
}

void HttpStream::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0)
      throw HttpStreamError(std::string("cannot write to the connection: ") + std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void HttpStream::shut_down() {
  shutdown(socket_, SHUT_RDWR);
}

}  // namespace lockstep::support
