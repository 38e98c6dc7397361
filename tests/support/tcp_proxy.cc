#include "tests/support/tcp_proxy.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "tests/support/http_stream.h"

namespace lockstep::support {
namespace {

bool send_all(int socket, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

ssize_t receive(int socket, std::vector<char>& block) {
  ssize_t got = 0;
  do {
    got = recv(socket, block.data(), block.size(), 0);
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace

TcpProxy::TcpProxy(HostAndPort server) : server_(std::move(server)) {
  acceptor_ = std::thread([this] { accept_connections(); });
}

TcpProxy::~TcpProxy() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (Connection& connection : connections_) end(connection);
  }
  changed_.notify_all();
  listener_.shut_down();
  acceptor_.join();
  for (Connection& connection : connections_) connection.thread.join();
}

void TcpProxy::lead_to(HostAndPort server) {
  const std::lock_guard lock(mutex_);
  server_ = std::move(server);
}

void TcpProxy::end(Connection& connection) {
  connection.cut = true;
  if (connection.client >= 0) shutdown(connection.client, SHUT_RDWR);
  if (connection.server >= 0) shutdown(connection.server, SHUT_RDWR);
  changed_.notify_all();
}

std::int64_t TcpProxy::round_trips() {
  const std::lock_guard lock(mutex_);
  return round_trips_;
}

void TcpProxy::cut() {
  const std::lock_guard lock(mutex_);
  for (Connection& connection : connections_) end(connection);
}

void TcpProxy::cut_after(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  for (Connection& connection : connections_) connection.reply_bytes = bytes;
}

void TcpProxy::desert() {
  const std::lock_guard lock(mutex_);
  for (Connection& connection : connections_) {
    connection.deserted = true;
    if (connection.server >= 0) shutdown(connection.server, SHUT_RDWR);
  }
}

void TcpProxy::stall() {
  const std::lock_guard lock(mutex_);
  stalled_ = true;
}

void TcpProxy::delay(std::chrono::milliseconds delay) {
  const std::lock_guard lock(mutex_);
  delay_ = delay;
}

void TcpProxy::refuse() {
  const std::lock_guard lock(mutex_);
  refusing_ = true;
}

void TcpProxy::heal() {
  const std::lock_guard lock(mutex_);
  stalled_ = false;
  refusing_ = false;
  delay_ = std::chrono::milliseconds(0);
  for (Connection& connection : connections_) {
    connection.reply_bytes = -1;
    if (connection.deserted) end(connection);
  }
  changed_.notify_all();
}

void TcpProxy::accept_connections() {
  for (;;) {
    const int client = listener_.accept();
    const std::lock_guard lock(mutex_);
    if (stopping_ || refusing_) {
      if (client >= 0) close(client);
      if (stopping_) return;
      continue;
    }
    if (client < 0) continue;
    remove_finished();
    Connection& connection = connections_.emplace_back();
    connection.client = client;
    connection.thread = std::thread([this, &connection, server = server_] { serve(connection, server); });
  }
}

void TcpProxy::remove_finished() {
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    if (connection->finished) {
      connection->thread.join();
      connection = connections_.erase(connection);
    } else {
      ++connection;
    }
  }
}

void TcpProxy::serve(Connection& connection, const HostAndPort& server) {
  try {
    const int upstream = HttpStream::connect(server);
    bool cut = false;
    {
      const std::lock_guard lock(mutex_);
      connection.server = upstream;
      cut = connection.cut;
    }
    if (!cut) {
      std::thread replies([this, &connection] { pump(connection, true); });
      pump(connection, false);
      replies.join();
    }
  } catch (const HttpStreamError&) {
    // The server is away: the client sees its connection closed.
  }
  const std::lock_guard lock(mutex_);
  close(std::exchange(connection.client, -1));
  if (connection.server >= 0) close(std::exchange(connection.server, -1));
  connection.finished = true;
}

// Passes one direction on until it ends. Its end ends the whole connection, unless the client isn't to know.
void TcpProxy::pump(Connection& connection, bool is_reply) {
  const int from = is_reply ? connection.server : connection.client;
  const int to = is_reply ? connection.client : connection.server;
  std::vector<char> block(65536);
  for (ssize_t got = receive(from, block); got > 0; got = receive(from, block)) {
    auto size = static_cast<std::size_t>(got);
    bool last = false;
    {
      std::unique_lock lock(mutex_);
      if (delay_.count() > 0) changed_.wait_for(lock, delay_, [&] { return stopping_ || connection.cut; });
      changed_.wait(lock, [&] { return stopping_ || connection.cut || !stalled_; });
      if (stopping_ || connection.cut) break;
      if (connection.deserted) continue;  // said to nobody
      if (is_reply && connection.asked) ++round_trips_;
      connection.asked = !is_reply;
      if (is_reply && connection.reply_bytes >= 0) {
        last = size >= static_cast<std::size_t>(connection.reply_bytes);
        size = std::min(size, static_cast<std::size_t>(connection.reply_bytes));
        connection.reply_bytes -= static_cast<std::int64_t>(size);
      }
    }
    if (!send_all(to, block.data(), size)) {
      const std::lock_guard lock(mutex_);
      if (!connection.deserted) break;
    }
    if (last) break;
  }
  const std::lock_guard lock(mutex_);
  if (is_reply && connection.deserted && !connection.cut) return;
  end(connection);
}

}  // namespace lockstep::support
