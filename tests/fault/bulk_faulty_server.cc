#include "tests/fault/bulk_faulty_server.h"

#include <sys/socket.h>
#include <unistd.h>

namespace lockstep {
namespace {

constexpr const char* kForeignPage = "<html><body>Your request was filtered.</body></html>";

std::string head(int status, std::size_t body_bytes) {
  return "HTTP/1.1 " + std::to_string(status) +
         " Whatever\r\ncontent-type: application/json\r\ncontent-length: " + std::to_string(body_bytes) +
         "\r\n\r\n";
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

BulkFaultyServer::BulkFaultyServer(Decide decide) : decide_(std::move(decide)) {
  acceptor_ = std::thread([this] { accept_connections(); });
}

BulkFaultyServer::~BulkFaultyServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (Connection& connection : connections_) connection.stream.shut_down();
  }
  listener_.shut_down();
  acceptor_.join();
  for (Connection& connection : connections_) connection.thread.join();
}

std::string BulkFaultyServer::url() const {
  return "http://127.0.0.1:" + std::to_string(listener_.port());
}

int BulkFaultyServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

int BulkFaultyServer::connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(connections_.size());
}

void BulkFaultyServer::accept_connections() {
  while (true) {
    const int descriptor = listener_.accept();
    if (descriptor < 0) return;
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      close(descriptor);
      return;
    }
    Connection& connection = connections_.emplace_back(descriptor);
    connection.thread = std::thread([this, &connection] { serve(connection); });
  }
}

void BulkFaultyServer::serve(Connection& connection) {
  try {
    while (const auto request = connection.stream.read_request()) {
      if (!answer(connection, *request)) break;
    }
  } catch (const support::HttpStreamError&) {
    // The client has hung up.
  }
  connection.stream.shut_down();
}

/// False when the connection is to end.
bool BulkFaultyServer::answer(Connection& connection, const support::HttpMessage& request) {
  int number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++requests_;
  }
  const BulkFault fault = decide_(number, request);
  const std::string body = fault.status == 200 ? endpoint_.apply(request.body, fault.items) : fault.body;
  const std::string header = head(fault.status, body.size());
  switch (fault.reply) {
    case BulkFault::Reply::kWhole:
      return send_all(connection.socket, header + body);
    case BulkFault::Reply::kCutInBody:
      send_all(connection.socket, header + body.substr(0, body.size() / 2));
      return false;
    case BulkFault::Reply::kCutInHeader:
      send_all(connection.socket, header.substr(0, header.size() / 2));
      return false;
    case BulkFault::Reply::kNone:
      return false;
    case BulkFault::Reply::kNever:
      connection.stream.read_request();
      return false;
    case BulkFault::Reply::kForeign:
      return send_all(connection.socket, head(200, std::string_view(kForeignPage).size()) + kForeignPage);
  }
  return false;
}

}  // namespace lockstep
