// A transport that answers from a script and records the requests.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

struct RecordedRequest {
  std::string method;
  std::string path;
  std::string body;
};

/// What the test keeps while the client owns the transport.
struct Script {
  std::deque<HttpResponse> answers;  ///< one for each request; after the last, requests fail
  std::vector<RecordedRequest> requests;
};

class ScriptedTransport final : public HttpTransport {
 public:
  explicit ScriptedTransport(Script& script) : script_(script) {}

  HttpResponse perform(const HttpRequest& request) override {
    script_.requests.push_back({request.method, request.path, std::string(request.body)});
    if (script_.answers.empty()) throw TransportError("http://es1:9200: refused", false);
    HttpResponse answer = std::move(script_.answers.front());
    script_.answers.pop_front();
    if (answer.body.size() > request.most_reply_bytes) throw ReplyTooLarge("too large", answer.body.size());
    return answer;
  }

 private:
  Script& script_;
};

inline ElasticsearchClient client_of(Script& script) {
  return ElasticsearchClient(std::make_unique<ScriptedTransport>(script));
}

/// The same, waiting while the server is busy.
inline ElasticsearchClient patient_client_of(Script& script,
                                             WhenBusy when_busy = {.limit = std::chrono::seconds(30)}) {
  return ElasticsearchClient(std::make_unique<ScriptedTransport>(script), std::chrono::seconds(60),
                             std::move(when_busy));
}

}  // namespace lockstep
