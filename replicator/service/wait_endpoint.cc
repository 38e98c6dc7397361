#include "replicator/service/wait_endpoint.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "replicator/quantity.h"

namespace lockstep {
namespace {

using nlohmann::ordered_json;

/// The fault in the parameters, in words.
class BadParameter : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

WaitRequest request_of(const WaitEndpoint::Parameters& parameters) {
  WaitRequest request;
  request.timeout = WaitEndpoint::kDefaultTimeout;
  for (const auto& [name, value] : parameters) {
    if (parameters.count(name) > 1) throw BadParameter(name + " is given more than once");
    if (name == "xid") {
      request.transaction = parse_transaction_id(value);
      if (!request.transaction) throw BadParameter("xid must be a number, as pg_current_xact_id() gives it");
    } else if (name == "refresh") {
      if (value != "true" && value != "false") throw BadParameter("refresh is true or false");
      request.refresh = value == "true" ? WaitRequest::Refresh::kYes : WaitRequest::Refresh::kNo;
    } else if (name == "timeout") {
      request.timeout = parse_duration(value);
      if (!request.timeout || *request.timeout > WaitEndpoint::kLongestTimeout) {
        throw BadParameter("timeout must be a duration such as 500ms or 30s, at most " +
                           duration_text(WaitEndpoint::kLongestTimeout));
      }
    } else {
      throw BadParameter("there is no parameter " + name + "; the parameters are xid, refresh and timeout");
    }
  }
  return request;
}

WaitEndpoint::Reply reply(int status, const ordered_json& body) {
  return {status, body.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n"};
}

WaitEndpoint::Reply not_applied(int status, const std::string& error) {
  return reply(status, {{"applied", false}, {"error", error}});
}

WaitEndpoint::Reply reply_to(const WaitRequest& request, const WaitAnswer& answer) {
  switch (answer.kind) {
    case WaitAnswer::Kind::kApplied:
      return reply(200, {{"applied", true},
                         {"searchable", request.refresh == WaitRequest::Refresh::kYes},
                         {"waited_ms", answer.waited.count()}});
    case WaitAnswer::Kind::kTimedOut:
      return not_applied(504, "not within " + duration_text(*request.timeout) + ": " + answer.reason);
    case WaitAnswer::Kind::kRolledBack:
      return not_applied(409, answer.reason);
    case WaitAnswer::Kind::kUnknownTransaction:
      return not_applied(400, answer.reason);
    case WaitAnswer::Kind::kStopped:
      break;
  }
  return not_applied(503, "the service is stopping");
}

}  // namespace

WaitEndpoint::Reply WaitEndpoint::answer(const Parameters& parameters) {
  try {
    const WaitRequest request = request_of(parameters);
    if (!free_.try_acquire()) {
      std::string reason = std::to_string(kMostWaiters);
      reason += " are waiting already; try again";
      return not_applied(503, reason);
    }
    const struct Slot {
      std::counting_semaphore<kMostWaiters>& free;
      ~Slot() { free.release(); }
    } slot{free_};
    return reply_to(request, waiter_.wait(
                                 request, [](const std::string&) {}, stop_.get_token()));
  } catch (const BadParameter& error) {
    return not_applied(400, error.what());
  } catch (const std::exception& error) {
    return not_applied(500, error.what());
  }
}

}  // namespace lockstep
