// A _bulk endpoint on a real socket that misbehaves as a test asks: it answers with any status, late, half or
// not at all, and has or has not applied what it was sent.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tests/support/http_stream.h"
#include "tests/support/listening_socket.h"
#include "tests/unit/elasticsearch/bulk_endpoint.h"

namespace lockstep {

/// What the server does with one request.
struct BulkFault {
  int status = 200;  ///< anything else: nothing is applied, `body` is the reply
  std::string body = {};
  BulkEndpoint::ItemFault items = {};  ///< with status 200: these items are refused
  enum class Reply {
    kWhole,
    kCutInBody,    ///< half of the body, then the connection ends
    kCutInHeader,  ///< half of the header
    kNone,         ///< the connection ends without a byte
    kNever,        ///< nothing comes until the client has hung up
    kForeign,      ///< a proxy's page instead of what Elasticsearch said
  };
  Reply reply = Reply::kWhole;
};

class BulkFaultyServer {
 public:
  /// Decides, from any thread, what becomes of the n-th request (from 1).
  using Decide = std::function<BulkFault(int number, const support::HttpMessage& request)>;

  explicit BulkFaultyServer(Decide decide);
  ~BulkFaultyServer();
  BulkFaultyServer(const BulkFaultyServer&) = delete;
  BulkFaultyServer& operator=(const BulkFaultyServer&) = delete;

  std::string url() const;
  const BulkEndpoint& endpoint() const { return endpoint_; }
  int requests() const;
  int connections() const;

 private:
  struct Connection {
    explicit Connection(int descriptor) : socket(descriptor), stream(descriptor) {}
    const int socket;
    support::HttpStream stream;  // owns the socket
    std::thread thread;
  };

  void accept_connections();
  void serve(Connection& connection);
  bool answer(Connection& connection, const support::HttpMessage& request);

  const Decide decide_;
  BulkEndpoint endpoint_;
  support::ListeningSocket listener_;

  mutable std::mutex mutex_;
  // guarded by mutex_
  std::list<Connection> connections_;
  int requests_ = 0;
  bool stopping_ = false;

  std::thread acceptor_;  // last: everything else exists while it runs
};

}  // namespace lockstep
