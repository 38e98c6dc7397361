// The sockets below [http] listen. The library (cpp-httplib) gives each connection a thread as soon as it is
// there, so that a few silent clients keep all others out. Here one thread reads the heads of all requests,
// and only a request whose head is complete gets a worker.
//
// H1. Regardless of clients, a request for a probe is answered: it has workers of its own, and when there are
//     too many connections the one that has been silent for longest makes room.
//
// H2. A client has kPatience for its whole request, and its answer waits for no client that does not read.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "replicator/process/event.h"

namespace lockstep {

class HttpServer : private httplib::Server {
 public:
  /// For a request with its body, from the connection on.
  static constexpr std::chrono::milliseconds kPatience{2'000};
  /// Connections whose request is not complete.
  static constexpr std::size_t kMostConnections = 64;
  /// Requests other than probes that have no answer yet.
  static constexpr int kMostUnanswered = 64;

  HttpServer();
  /// As stop().
  ~HttpServer() override;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The handlers, before listen().
  using httplib::Server::Get;
  using httplib::Server::Post;

  /// Listens; port 0 takes a free one. Returns the port; 0: the address cannot be had, and errno may have the
  /// cause.
  int bind(const std::string& host, int port);

  /// Serves from now on, in threads of its own. A GET is a probe, which is answered at once, and has two
  /// workers; all other requests have `patient_workers`. REQUIRES: bind() succeeded.
  void serve(int patient_workers);

  /// Takes no more requests, and waits for those under way.
  void stop();

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Connection {
    int socket = -1;
    Time deadline;
    std::string head;  // the bytes so far
  };

  void run(const std::stop_token& stop);
  void accept_all();
  /// Whether the connection is still to be watched.
  bool read_head(Connection& connection);
  void answer(Connection connection);

  std::unique_ptr<httplib::ThreadPool> probes_;
  std::unique_ptr<httplib::ThreadPool> patient_;
  std::atomic<int> unanswered_ = 0;
  Event stopped_;
  std::list<Connection> connections_;  // the oldest first; of the thread
  std::jthread thread_;                // uses everything above
};

}  // namespace lockstep
