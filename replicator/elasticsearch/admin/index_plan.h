// What `apply` has to do so that an alias stands for an index with the wanted mapping and our mark, and how
// it is done. An index that belongs to somebody else is refused, and nothing is ever deleted.
//
// Invariant I1: an alias of ours stands for exactly one index, whose mapping carries our mark in
//   _meta.lockstep.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_mapping.h"

namespace lockstep {

/// The source as it was when it was last noted in the index: what is there now is older when it is less.
struct SourceMark {
  std::string place;          ///< which database
  std::string timeline;       ///< another one after a promotion or a recovery to an earlier point
  std::int64_t progress = 0;  ///< grows as long as place and timeline stay
  bool operator==(const SourceMark&) const = default;
};

/// Whose an index is: `_meta.lockstep` of its mapping.
struct IndexMark {
  std::string pipeline;
  std::string identity;  ///< the pipeline's uuid in its source
  std::string alias;
  std::string view;
  std::string mapping_checksum;
  Epoch epoch;        ///< the newest that is known to have written here
  SourceMark source;  ///< what that one wrote from; empty: nobody has written yet
  bool operator==(const IndexMark&) const = default;
};

/// The mark of an index; none if it carries none.
std::optional<IndexMark> read_mark(const IndexState& index);

/// An index as the configuration wants it.
struct DesiredIndex {
  std::string alias;
  std::string view;
  IndexMapping mapping;
  std::string pipeline;
  std::string identity;  ///< empty: the pipeline has not been applied to the source yet
};

struct IndexPlan {
  enum class Kind {
    kNothing,
    kCreate,   ///< `index` with the alias
    kUpdate,   ///< mapping, settings or mark of `index`
    kReindex,  ///< `index` is ours, but what is wanted needs a new one
    kRefuse,   ///< the alias or the index is not ours to use
  };
  Kind kind = Kind::kNothing;
  std::string alias;
  std::string index;                 ///< the real index; empty for kRefuse
  std::vector<std::string> changes;  ///< for people, one line each; empty for kNothing and kRefuse
  std::string problem;               ///< kReindex and kRefuse: why
  std::string remedy;                ///< kReindex and kRefuse: what to do
};

/// Compares, changes nothing. Throws Error as the client does, and when Elasticsearch refuses the mapping.
IndexPlan plan_index(ElasticsearchClient& client, const DesiredIndex& desired);

/// Does what plan_index() planned; nothing for kNothing. Throws Error with problem and remedy for kReindex
/// and kRefuse, and when Elasticsearch refuses a change in place (remedy: reindex).
void apply_index_plan(ElasticsearchClient& client, const DesiredIndex& desired, const IndexPlan& plan);

/// Makes the next index ALIAS-NNNNNN without the alias, for a reindex; returns its name.
std::string create_next_index(ElasticsearchClient& client, const DesiredIndex& desired, Epoch epoch);

/// Why Elasticsearch refuses a mapping; none if it takes it. Leaves nothing behind: a template is simulated,
/// which checks settings, analyzers and mappings as creating an index does. Where that is not allowed (the
/// cluster privilege manage_index_templates), an index ALIAS-check-… is made and deleted at once.
std::optional<std::string> validate_mapping(ElasticsearchClient& client, const std::string& alias,
                                            const IndexMapping& mapping);

/// The real index behind an alias of ours.
struct MarkedIndex {
  IndexMark mark;
  std::string uuid;  ///< another one when the index was deleted and made again, or restored from a snapshot
};

/// Throws Error when the alias is missing, stands for several indices or for one without a mark.
MarkedIndex marked_index(ElasticsearchClient& client, const std::string& alias);

/// Writes into the mark of the index behind an alias who writes there from now on, leaving the rest as it is.
/// Needs the index privilege `manage`.
void set_index_writer(ElasticsearchClient& client, const std::string& alias, Epoch epoch,
                      const SourceMark& source);

}  // namespace lockstep
