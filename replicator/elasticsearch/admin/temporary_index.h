// An index of a unique name, for trials.
#pragma once

#include <string>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// "PREFIX" and twelve random letters and digits.
std::string random_name(const std::string& prefix);

/// Deletes the index on every way out. Does not create it.
class TemporaryIndex {
 public:
  /// `client` must outlive this.
  TemporaryIndex(ElasticsearchClient& client, const std::string& alias)
      : client_(client), name_(random_name(alias + "-check-")) {}
  TemporaryIndex(const TemporaryIndex&) = delete;
  TemporaryIndex& operator=(const TemporaryIndex&) = delete;
  ~TemporaryIndex();

  const std::string& name() const { return name_; }

 private:
  ElasticsearchClient& client_;
  const std::string name_;
};

}  // namespace lockstep
