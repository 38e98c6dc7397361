// Stands between a client and a server, whatever they speak, and does to their connections what networks do:
// delays, silence, a cut in the middle of a reply, one side that is gone without the other knowing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

#include "tests/support/listening_socket.h"
#include "tests/support/servers.h"

namespace lockstep::support {

class TcpProxy {
 public:
  /// Listens on a free port of this machine.
  explicit TcpProxy(HostAndPort server);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  /// Where clients connect to; stays the same.
  int port() const { return listener_.port(); }

  /// Connections that are made from now on go there.
  void lead_to(HostAndPort server);

  /// How often a client has waited for the server, over all connections: the replies that began after a
  /// request.
  std::int64_t round_trips();

  // Faults. Any thread may call them; heal() ends those that last.

  /// Ends all connections.
  void cut();
  /// Ends each connection when `bytes` more have come from the server: in the middle of a reply.
  void cut_after(std::int64_t bytes);
  /// Ends all connections for the server, while their clients hear nothing.
  void desert();
  /// Nothing passes, in neither direction; connections stay.
  void stall();
  /// Everything that passes waits so long.
  void delay(std::chrono::milliseconds delay);
  /// New connections are closed at once.
  void refuse();
  /// Undisturbed again. Connections that were deserted are ended.
  void heal();

 private:
  struct Connection {
    int client = -1;
    int server = -1;
    std::int64_t reply_bytes = -1;  // that may still pass; negative: any number
    bool asked = false;             // and not answered yet
    bool deserted = false;
    bool cut = false;
    bool finished = false;
    std::thread thread;
  };

  void accept_connections();
  void serve(Connection& connection, const HostAndPort& server);
  void pump(Connection& connection, bool is_reply);
  void end(Connection& connection);  // REQUIRES: mutex_
  void remove_finished();            // REQUIRES: mutex_

  ListeningSocket listener_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // guarded by mutex_
  HostAndPort server_;
  std::list<Connection> connections_;
  std::chrono::milliseconds delay_{0};
  bool stalled_ = false;
  bool refusing_ = false;
  bool stopping_ = false;
  std::int64_t round_trips_ = 0;

  std::thread acceptor_;  // last: everything else exists while it runs
};

}  // namespace lockstep::support
