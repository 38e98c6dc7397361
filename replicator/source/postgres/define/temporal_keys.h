// Temporal foreign keys (PostgreSQL 18): `foreign key (room_id, period during)`. Rows of the other table
// cover the period together, each a part of it. If a view or a track compares the two periods by `=`, it
// finds none of them, and the documents' only fault is that they are empty.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/source/definition.h"
#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/define/design.h"

namespace lockstep {

class TemporalKeys {
 public:
  /// REQUIRES: `transaction` and `findings` outlive this.
  TemporalKeys(PostgresTransaction& transaction, std::vector<Finding>& findings);

  /// Add an error for two periods of one key that are compared by `=`: by the view, by the track's search for
  /// documents, or by its `keys`, which are the view `query` for a moment. REQUIRES: the view is there.
  void check_view(const IndexDesign& index);
  void check_track(const TrackDesign& track, const CaptureDesign& capture);
  void check_keys(const TrackDesign& track, unsigned query);

 private:
  struct Key {
    unsigned table = 0;
    unsigned referenced = 0;
    std::string period;  // quoted
    std::string referenced_period;
  };

  struct RelationColumn {
    unsigned relation = 0;
    int number = 0;
  };

  void check_links(const std::string& place, const std::string& what, unsigned view, int id);
  bool compares(const Key& key, RelationColumn some, RelationColumn other);
  void check(const std::string& place, const std::string& what, RelationColumn some, RelationColumn other);
  /// The quoted name of a column, if it is one of the table `whole` or of its partitions.
  std::optional<std::string> name_of(RelationColumn column, unsigned whole);

  PostgresTransaction& transaction_;
  std::vector<Finding>& findings_;
  std::vector<Key> keys_;
};

}  // namespace lockstep
