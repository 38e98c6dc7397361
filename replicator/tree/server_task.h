// Changes of many documents that run in the server as a task: _update_by_query and _delete_by_query. Each
// document is changed only if it is still what the search found. A task outlives the client that started it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

class ServerTask {
 public:
  /// A task that runs already, by its id.
  ServerTask(ElasticsearchClient& client, std::string id) : client_(client), id_(std::move(id)) {}

  /// Starts `endpoint` ("_update_by_query", "_delete_by_query") over `index`. Documents that change meanwhile
  /// are passed over; at its end it refreshes the index.
  static ServerTask start(ElasticsearchClient& client, const std::string& index, const std::string& endpoint,
                          const nlohmann::json& body);

  const std::string& id() const { return id_; }

  struct State {
    bool ended = false;
    std::int64_t changed = 0;
  };
  /// Throws Error when the task has failed for some document, other than by a conflict. A task of which the
  /// server knows nothing any more has ended.
  State state();

  /// Ends it after the documents that it is at. Nothing happens when it has ended.
  void cancel();

  /// Removes what the server keeps of a task that has ended, where it lets us.
  void forget();

 private:
  ElasticsearchClient& client_;
  std::string id_;
};

}  // namespace lockstep
