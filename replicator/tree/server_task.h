// Changes of many documents that the server runs as a task, by _update_by_query. The task changes a document
// only in the version that its search found, and outlives the client that started it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

class ServerTask {
 public:
  /// A task that was started before, by its id.
  ServerTask(ElasticsearchClient& client, std::string id) : client_(client), id_(std::move(id)) {}

  /// Starts it over `index`. The task skips documents that change meanwhile, and refreshes the index at its
  /// end.
  static ServerTask start(ElasticsearchClient& client, const std::string& index, const nlohmann::json& body);

  const std::string& id() const { return id_; }

  struct State {
    bool ended = false;
    std::int64_t changed = 0;
  };
  /// A task that the server does not know any more has ended. Throws Error if the task failed for a document
  /// by anything but a conflict.
  State state();

  /// Ends it after the documents of its current batch. Does nothing when it has ended.
  void cancel();

  /// Removes the server's record of an ended task, if it allows that.
  void forget();

 private:
  ElasticsearchClient& client_;
  std::string id_;
};

}  // namespace lockstep
