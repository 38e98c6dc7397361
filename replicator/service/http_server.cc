#include "replicator/service/http_server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

constexpr int kProbeWorkers = 2;
constexpr int kBacklog = 128;
// Larger than every answer, so that writing one never blocks.
constexpr int kSendBuffer = 1024 * 1024;

constexpr int kMostDrains = 32;  // reads of 4 KiB
constexpr std::size_t kMostHeadBytes = 8 * 1024;
constexpr std::size_t kMostBodyBytes = 64 * 1024;

constexpr std::string_view kHeadTooLarge =
    "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
constexpr std::string_view kTooMany =
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
constexpr std::string_view kTooSlow =
    "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

void close_after(int socket, std::string_view reply) {
  if (!reply.empty()) ::send(socket, reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket, SHUT_WR);
  // Unread bytes would make the system cut the connection before the client has its answer.
  char bytes[4096];
  int drains = 0;
  while (drains < kMostDrains && recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0) ++drains;
  ::close(socket);
}

// A connection whose head has been read: the bytes read, and then the socket, until the deadline.
class ReadConnection final : public httplib::Stream {
 public:
  ReadConnection(int socket, std::string read, std::chrono::steady_clock::time_point deadline)
      : socket_(socket), read_(std::move(read)), deadline_(deadline) {}

  bool is_readable() const override { return at_ < read_.size() || ready(POLLIN); }
  bool is_writable() const override { return ready(POLLOUT); }

  ssize_t read(char* to, size_t size) override {
    if (at_ < read_.size()) {
      const std::size_t bytes = std::min(size, read_.size() - at_);
      std::memcpy(to, read_.data() + at_, bytes);
      at_ += bytes;
      return static_cast<ssize_t>(bytes);
    }
    return ready(POLLIN) ? ::recv(socket_, to, size, 0) : -1;
  }

  ssize_t write(const char* from, size_t size) override {
    return ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

 private:
  bool ready(short what) const {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
    // The answer fits into the buffer.
    const int wait = what == POLLOUT ? 0 : static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    pollfd waits{socket_, what, 0};
    return ::poll(&waits, 1, wait) == 1 && (waits.revents & (what | POLLHUP)) != 0;
  }

  const int socket_;
  const std::string read_;
  std::size_t at_ = 0;
  const std::chrono::steady_clock::time_point deadline_;
};

}  // namespace

HttpServer::HttpServer() {
  set_payload_max_length(kMostBodyBytes);
  // The library asks for SO_REUSEPORT: then two processes share a port, and either answers.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

HttpServer::~HttpServer() {
  stop();
}

int HttpServer::bind(const std::string& host, int port) {
  const bool bound = port == 0 ? (port = bind_to_any_port(host)) > 0 : bind_to_port(host, port);
  if (!bound || ::listen(svr_sock_, kBacklog) != 0) return 0;
  return ::fcntl(svr_sock_, F_SETFL, O_NONBLOCK) == 0 ? port : 0;
}

void HttpServer::serve(int patient_workers) {
  probes_ = std::make_unique<httplib::ThreadPool>(kProbeWorkers);
  patient_ = std::make_unique<httplib::ThreadPool>(static_cast<std::size_t>(patient_workers));
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void HttpServer::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  stopped_.set();
  thread_.join();
  for (const Connection& connection : std::exchange(connections_, {})) close_after(connection.socket, "");
  probes_->shutdown();
  patient_->shutdown();
  ::close(svr_sock_.exchange(-1));
}

void HttpServer::run(const std::stop_token& stop) {
  std::vector<pollfd> waits;
  while (!stop.stop_requested()) {
    waits = {{stopped_.descriptor(), POLLIN, 0}, {svr_sock_, POLLIN, 0}};
    int wait = -1;
    for (const Connection& connection : connections_) {
      waits.push_back({connection.socket, POLLIN, 0});
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(connection.deadline -
                                                                     std::chrono::steady_clock::now());
      // The first is the one whose time is over first.
      if (wait < 0) wait = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    }
    ::poll(waits.data(), waits.size(), wait);
    std::size_t number = 2;
    for (auto connection = connections_.begin(); connection != connections_.end(); ++number) {
      const bool stays = waits[number].revents == 0 || read_head(*connection);
      if (stays && std::chrono::steady_clock::now() >= connection->deadline) {
        close_after(connection->socket, kTooSlow);
        connection = connections_.erase(connection);
      } else {
        connection = stays ? std::next(connection) : connections_.erase(connection);
      }
    }
    if (waits[1].revents != 0) accept_all();
  }
}

void HttpServer::accept_all() {
  while (true) {
    const int socket = ::accept4(svr_sock_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) {
      // Without descriptors it would be asked again at once.
      if (errno == EMFILE || errno == ENFILE) ::poll(nullptr, 0, 50);
      return;
    }
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
    // H1
    if (connections_.size() == kMostConnections) {
      close_after(connections_.front().socket, kTooSlow);
      connections_.pop_front();
    }
    connections_.push_back({socket, std::chrono::steady_clock::now() + kPatience, {}});
  }
}

bool HttpServer::read_head(Connection& connection) {
  char bytes[4096];
  const ssize_t read = ::recv(connection.socket, bytes, sizeof bytes, MSG_DONTWAIT);
  if (read < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (read <= 0) {
    close_after(connection.socket, "");
    return false;
  }
  connection.head.append(bytes, static_cast<std::size_t>(read));
  if (connection.head.find("\r\n\r\n") == std::string::npos) {
    if (connection.head.size() <= kMostHeadBytes) return true;
    close_after(connection.socket, kHeadTooLarge);
    return false;
  }
  answer(std::move(connection));
  return false;
}

void HttpServer::answer(Connection connection) {
  // The library reads the bodies of all others.
  const bool is_probe = connection.head.starts_with("GET ") || connection.head.starts_with("HEAD ");
  // H1: requests that wait for a worker hold descriptors, too.
  if (!is_probe && unanswered_ >= kMostUnanswered) return close_after(connection.socket, kTooMany);
  if (!is_probe) ++unanswered_;
  httplib::ThreadPool& workers = is_probe ? *probes_ : *patient_;
  workers.enqueue([this, is_probe, connection = std::move(connection)] {
    ReadConnection stream(connection.socket, connection.head, connection.deadline);
    bool closed = false;
    process_request(stream, true, closed, nullptr);
    close_after(connection.socket, "");
    if (!is_probe) --unanswered_;
  });
}

}  // namespace lockstep
