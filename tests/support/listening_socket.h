// Where the servers and proxies of tests take connections: a free port of this machine.
#pragma once

namespace lockstep::support {

class ListeningSocket {
 public:
  /// Listens. Throws std::runtime_error.
  ListeningSocket();
  ~ListeningSocket();
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  int port() const { return port_; }

  /// The next connection's socket, which sends without delay; negative after shut_down().
  int accept() const;

  /// From any thread: accept() returns, now and from now on.
  void shut_down() const;

 private:
  int socket_ = -1;
  int port_ = 0;
};

}  // namespace lockstep::support
