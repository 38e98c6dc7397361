// The journal of operations as an index of one shard, whose sequence numbers order the commits. One document
// of it counts the fencing tokens.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/backends/elasticsearch/lock_scripts.h"
#include "replicator/locks/journal.h"

namespace lockstep {

/// The id of the document that counts the fencing tokens.
inline constexpr const char* kTokenId = "lockstep-token";

class ElasticsearchJournal final : public Journal {
 public:
  /// `client` must outlive this. Without painless, leases count by the clock of the elected master.
  ElasticsearchJournal(ElasticsearchClient& client, std::string index, Painless painless,
                       std::chrono::milliseconds lease);

  void open(Operation& operation) override;
  FencingToken draw(FencingToken above) override;
  Resolution seize(const Operation& found, const std::string& by, Adoption adoption) override;
  bool abort(const Operation& found, const std::string& by, const std::string& reason) override;
  std::optional<Operation> find(const std::string& id) override;
  std::vector<Operation> unresolved(const Unreadable& unreadable) override;
  void erase(const Operation& operation) override;
  void prune(std::chrono::milliseconds age) override;

 private:
  std::optional<Operation> write(const Operation& changed, JournalVersion expected) override;
  std::string document_path(const std::string& id, const char* endpoint, JournalVersion version) const;
  FencingToken draw_plainly(FencingToken above);
  Resolution seize_plainly(const Operation& found, const std::string& by, Adoption adoption);
  nlohmann::json search(const nlohmann::json& query, std::size_t size);

  ElasticsearchClient& client_;
  const std::string index_;
  const Painless painless_;
  const std::chrono::milliseconds lease_;
};

}  // namespace lockstep
