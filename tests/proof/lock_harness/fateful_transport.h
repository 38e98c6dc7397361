// A transport at which fate strikes: before it sends a request, and after the server has acted on the request
// but before the client has read the reply.
#pragma once

#include <functional>
#include <memory>

#include "replicator/elasticsearch/transport/http_transport.h"
#include "tests/proof/lock_harness/fate.h"

namespace lockstep::harness {

class FatefulTransport final : public HttpTransport {
 public:
  /// `fate` must outlive this. Calls `before` first with each request.
  FatefulTransport(std::unique_ptr<HttpTransport> transport, Fate& fate,
                   std::function<void(const HttpRequest&)> before)
      : transport_(std::move(transport)), fate_(fate), before_(std::move(before)) {}

  HttpResponse perform(const HttpRequest& request) override {
    before_(request);
    fate_.pass("before " + request.method + " " + request.path);
    HttpResponse response = transport_->perform(request);
    fate_.pass("after " + request.method + " " + request.path);
    return response;
  }
  void cancel() override { transport_->cancel(); }

 private:
  std::unique_ptr<HttpTransport> transport_;
  Fate& fate_;
  const std::function<void(const HttpRequest&)> before_;
};

}  // namespace lockstep::harness
