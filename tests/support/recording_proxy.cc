#include "tests/support/recording_proxy.h"

#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "tests/support/servers.h"

namespace lockstep::support {
namespace {

HttpMessage made_up_response(int status, std::string body) {
  return {"HTTP/1.1 " + std::to_string(status) + " Injected",
          {{"content-type", "application/json"}},
          std::move(body)};
}

// What the recorder needs to know of an applied operation. A request that asks for parts of the reply only is
// made to ask for these too, and they are taken out again before the reply is passed on.
constexpr const char* kRecorded[] = {"_index", "_seq_no"};
constexpr const char* kFilter = "filter_path=";

bool ask_for_what_is_recorded(HttpMessage& request) {
  const std::size_t filter = request.start_line.find(kFilter);
  if (filter == std::string::npos) return false;
  std::string wanted;
  for (const char* field : kRecorded) wanted += "items.*." + std::string(field) + ",";
  request.start_line.insert(filter + std::string_view(kFilter).size(), wanted);
  return true;
}

void take_out_what_was_recorded(HttpMessage& response) {
  nlohmann::json reply = nlohmann::json::parse(response.body, nullptr, false);
  if (!reply.is_object() || !reply.contains("items")) return;
  for (auto& item : reply["items"]) {
    for (const char* field : kRecorded) item.begin().value().erase(field);
  }
  response.body = reply.dump();
}

}  // namespace

bool RecordingProxy::is_bulk(const HttpMessage& request) {
  const std::string target = request.target();
  return target.substr(0, target.find('?')).ends_with("/_bulk");
}

RecordingProxy::RecordingProxy(BulkHistory::CounterHook counters) : history_(std::move(counters)) {
  elasticsearch_url();
  acceptor_ = std::thread([this] { accept_connections(); });
}

RecordingProxy::~RecordingProxy() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (Connection& connection : connections_) {
      connection.client.shut_down();
      if (connection.server != nullptr) connection.server->shut_down();
    }
  }
  changed_.notify_all();
  listener_.shut_down();
  acceptor_.join();
  for (Connection& connection : connections_) connection.thread.join();
}

std::string RecordingProxy::url() const {
  return "http://127.0.0.1:" + std::to_string(listener_.port());
}

std::int64_t RecordingProxy::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void RecordingProxy::disturb(Disturber disturber) {
  const std::lock_guard lock(mutex_);
  disturber_ = std::move(disturber);
}

void RecordingProxy::answer_bulks(int count, int status, std::string body) {
  auto left = std::make_shared<std::atomic<int>>(count);
  disturb([left, status, body = std::move(body)](const HttpMessage& request) -> std::optional<Disturbance> {
    if (!is_bulk(request) || left->fetch_sub(1) <= 0) return std::nullopt;
    return Disturbance{.status = status, .body = body};
  });
}

void RecordingProxy::hold_bulks() {
  const std::lock_guard lock(mutex_);
  holding_ = true;
}

void RecordingProxy::release_bulks() {
  const std::lock_guard lock(mutex_);
  holding_ = false;
  changed_.notify_all();
}

std::int64_t RecordingProxy::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

void RecordingProxy::accept_connections() {
  for (;;) {
    const int client = listener_.accept();
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      if (client >= 0) close(client);
      return;
    }
    if (client < 0) continue;
    for (auto connection = connections_.begin(); connection != connections_.end();) {
      if (connection->finished) {
        connection->thread.join();
        connection = connections_.erase(connection);
      } else {
        ++connection;
      }
    }
    Connection& connection = connections_.emplace_back(client);
    connection.thread = std::thread([this, &connection] { serve(connection); });
  }
}

void RecordingProxy::serve(Connection& connection) {
  try {
    while (std::optional<HttpMessage> request = connection.client.read_request()) {
      if (!forward(connection, std::move(*request))) break;
    }
  } catch (const std::exception&) {
    // Either side has gone; the other one sees its connection closed, as without a proxy.
  }
  connection.client.shut_down();
  const std::lock_guard lock(mutex_);
  connection.finished = true;
}

std::optional<Disturbance> RecordingProxy::disturbance(const HttpMessage& request) {
  Disturber disturber;
  {
    const std::lock_guard lock(mutex_);
    ++requests_;
    disturber = disturber_;
  }
  if (!disturber) return std::nullopt;
  return disturber(request);
}

// Returns false when the proxy ends meanwhile.
bool RecordingProxy::wait_while_held(const HttpMessage& request, std::chrono::milliseconds delay) {
  std::unique_lock lock(mutex_);
  if (delay.count() > 0) changed_.wait_for(lock, delay, [&] { return stopping_; });
  if (holding_ && is_bulk(request)) {
    ++held_;
    changed_.wait(lock, [&] { return stopping_ || !holding_; });
    --held_;
  }
  return !stopping_;
}

HttpMessage RecordingProxy::ask_elasticsearch(Connection& connection, const HttpMessage& request) {
  if (connection.server == nullptr) {
    auto server = std::make_unique<HttpStream>(HttpStream::connect(host_and_port(elasticsearch_url())));
    const std::lock_guard lock(mutex_);
    if (stopping_) throw HttpStreamError("the proxy is ending");
    connection.server = std::move(server);
  }
  connection.server->write_request(request);
  return connection.server->read_response(request.method());
}

// Returns false when the connection is to be closed.
bool RecordingProxy::forward(Connection& connection, HttpMessage request) {
  const std::optional<Disturbance> disturbed = disturbance(request);
  if (!wait_while_held(request, disturbed ? disturbed->delay : std::chrono::milliseconds(0))) return false;
  if (disturbed && disturbed->lose_request) return false;
  if (disturbed && disturbed->status) {
    connection.client.write_response(made_up_response(*disturbed->status, disturbed->body), request.method());
    return true;
  }
  request.remove_header("accept-encoding");  // the reply is to be read here
  HttpMessage response;
  if (is_bulk(request)) {
    std::vector<BulkOperation> operations = history_.begin(request);
    const bool asked = ask_for_what_is_recorded(request);
    try {
      response = ask_elasticsearch(connection, request);
    } catch (const HttpStreamError&) {
      history_.end(std::move(operations), nullptr);
      throw;
    }
    history_.end(std::move(operations), &response);
    if (asked) take_out_what_was_recorded(response);
  } else {
    response = ask_elasticsearch(connection, request);
    if (request.method() == "DELETE" && response.status() == 200) {
      const std::string target = request.target();
      history_.index_deleted(target.substr(1, target.find('?') - 1));
    }
  }
  if (disturbed && disturbed->lose_reply) return false;
  connection.client.write_response(std::move(response), request.method());
  return true;
}

}  // namespace lockstep::support
