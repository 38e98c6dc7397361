// Stands in front of Elasticsearch: forwards everything, records what bulk requests did to each document
// (bulk_history.h), and disturbs requests when a test asks for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tests/support/bulk_history.h"
#include "tests/support/http_stream.h"
#include "tests/support/listening_socket.h"

namespace lockstep::support {

/// What is done to a request instead of, or besides, forwarding it.
struct Disturbance {
  std::chrono::milliseconds delay{0};  ///< before it is forwarded or answered
  std::optional<int> status = {};      ///< answered with this status; Elasticsearch never sees it
  std::string body = {};               ///< of that answer
  bool lose_reply = false;    ///< forwarded, but the connection is closed instead of passing the reply on
  bool lose_request = false;  ///< not forwarded, and the connection is closed
};

class RecordingProxy {
 public:
  /// Listens on a free port of this machine, in front of elasticsearch_url().
  explicit RecordingProxy(BulkHistory::CounterHook counters = {});
  ~RecordingProxy();
  RecordingProxy(const RecordingProxy&) = delete;
  RecordingProxy& operator=(const RecordingProxy&) = delete;

  std::string url() const;

  const BulkHistory& history() const { return history_; }
  BulkHistory& history() { return history_; }

  /// Requests of any kind, bulk or not, that have come in.
  std::int64_t requests() const;

  /// Asked for each request, from several threads; none: it is forwarded untouched. An empty function ends
  /// it.
  using Disturber = std::function<std::optional<Disturbance>(const HttpMessage& request)>;
  void disturb(Disturber disturber);

  /// The next `count` bulk requests are answered with `status`, and Elasticsearch doesn't see them.
  void answer_bulks(int count, int status,
                    std::string body = R"({"error":{"type":"injected","reason":"by the test"}})");

  /// While held, bulk requests wait here.
  void hold_bulks();
  void release_bulks();
  std::int64_t held() const;

  static bool is_bulk(const HttpMessage& request);

 private:
  struct Connection {
    explicit Connection(int socket) : client(socket) {}
    HttpStream client;
    std::unique_ptr<HttpStream> server;  // guarded by mutex_ while it is being made or ended
    std::thread thread;
    bool finished = false;  // guarded by mutex_
  };

  void accept_connections();
  void serve(Connection& connection);
  bool forward(Connection& connection, HttpMessage request);
  HttpMessage ask_elasticsearch(Connection& connection, const HttpMessage& request);
  std::optional<Disturbance> disturbance(const HttpMessage& request);
  bool wait_while_held(const HttpMessage& request, std::chrono::milliseconds delay);

  BulkHistory history_;
  ListeningSocket listener_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // guarded by mutex_
  std::list<Connection> connections_;
  Disturber disturber_;
  bool stopping_ = false;
  bool holding_ = false;
  std::int64_t held_ = 0;
  std::int64_t requests_ = 0;

  std::thread acceptor_;  // last: everything else exists while it runs
};

}  // namespace lockstep::support
