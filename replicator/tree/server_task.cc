#include "replicator/tree/server_task.h"

#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr const char* kDoing = "changing documents in the server";

void require_no_failure(const json& reply) {
  const json response = object_at(reply, "response");
  const json failures = response.value("failures", json::array());
  const bool failed = reply.contains("error");
  if (!failed && failures.empty()) return;
  const json& what = failed ? reply.at("error") : failures.at(0);
  const std::int64_t status = failed ? 0 : integer_at(what, "status").value_or(0);
  // Judged as the reply to a single request; a task that failed as a whole may work next time.
  const bool later = failed || may_work_later(status);
  throw Error({kDoing, dumped(what).substr(0, 1'000), "", later ? Retry::kLater : Retry::kNever,
               Server::kElasticsearch});
}

}  // namespace

ServerTask ServerTask::start(ElasticsearchClient& client, const std::string& index, const json& body) {
  const json reply =
      client.send_json(kDoing, "POST",
                       "/" + percent_encoded(index) +
                           "/_update_by_query?conflicts=proceed&wait_for_completion=false&refresh=true"
                           "&pipeline=_none",
                       dumped(body));
  ServerTask task(client, text_at(reply, "task"));
  if (task.id_.empty()) throw Error({kDoing, "the server names no task", "is there a proxy in between?"});
  return task;
}

ServerTask::State ServerTask::state() {
  const HttpResponse response =
      client_.send(kDoing, "GET", "/_tasks/" + percent_encoded(id_), {}, {kNotFound});
  if (response.status == kNotFound) return {.ended = true};
  const json reply = parse_reply(kDoing, response);
  const json status = object_at(object_at(reply, "task"), "status");
  State state;
  state.ended = reply.value("completed", false);
  state.changed = integer_at(status, "updated").value_or(0) + integer_at(status, "deleted").value_or(0);
  if (state.ended) require_no_failure(reply);
  return state;
}

void ServerTask::cancel() {
  client_.send("ending a task in the server", "POST", "/_tasks/" + percent_encoded(id_) + "/_cancel", {},
               {kNotFound});
}

void ServerTask::forget() {
  try {
    client_.send("removing the record of a task", "DELETE", "/.tasks/_doc/" + percent_encoded(id_));
  } catch (const Error&) {
    // A few bytes stay.
  }
}

}  // namespace lockstep
