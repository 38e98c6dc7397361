#include "tests/support/listening_socket.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace lockstep::support {

ListeningSocket::ListeningSocket() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (socket_ < 0 || bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(socket_, 64) != 0 || getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error(std::string("cannot listen: ") + std::strerror(errno));
  }
  port_ = ntohs(address.sin_port);
}

ListeningSocket::~ListeningSocket() {
  close(socket_);
}

int ListeningSocket::accept() const {
  int client = -1;
  do {
    client = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  } while (client < 0 && (errno == EINTR || errno == ECONNABORTED));
  const int on = 1;
  if (client >= 0) setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return client;
}

void ListeningSocket::shut_down() const {
  shutdown(socket_, SHUT_RDWR);
}

}  // namespace lockstep::support
