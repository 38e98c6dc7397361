// Two real indices of one alias: the one that it points to, and the next one that will take its place.
//
// E1. No process writes into a generation by the searchers' alias, which may move with a bulk on its way, nor
//     by the index's own name, by which a bulk would make it again after it was deleted.
//
// E2. The alias moves in one call, from the index where it is expected; another move meanwhile is noticed.
//
// E3. An index that the alias points to is never deleted, nor one that Lockstep has not made, nor the only
//     one of two that is left.
//
// Each function may be repeated after a lost answer, and then finds the steps that are done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_plan.h"

namespace lockstep {

/// The hidden alias by which a generation is written (E1): "posts-000002-w17", by the reindex that has made
/// it. A late write to an index of the same name, of an aborted reindex, finds no alias. That of a live index
/// has no number.
std::string writing_alias(const std::string& index, std::int64_t reindex = 0);

/// The index of a writing alias.
std::string index_written_by(const std::string& writing_alias);

/// The index's aliases besides `alias` that Lockstep has not made.
std::vector<std::string> other_aliases(const IndexState& index, const std::string& alias);

struct TwoGenerations {
  std::string live;            ///< the real index that the alias points to
  std::string beside;          ///< the other one
  std::string beside_alias;    ///< by which it is written
  std::int64_t documents = 0;  ///< in the live one
};

/// Makes the next index of the alias, hidden, without refreshes and replicas, marked with the number of the
/// reindex, and gives both their alias for writing. Throws Error if a template puts it under an alias.
TwoGenerations create_beside(ElasticsearchClient& client, const DesiredIndex& desired, Epoch epoch,
                             std::int64_t reindex);

/// Gives an index that was filled the refreshes and replicas of its mapping file, and makes everything in it
/// searchable.
void finish_filling(ElasticsearchClient& client, const std::string& index, const IndexMapping& mapping);

/// The place of an alias with two generations, and which of them exist.
struct AliasState {
  std::vector<std::string> at;  ///< the real indices that the alias points to
  bool has_live = false;
  bool has_beside = false;
};

AliasState state_of_alias(ElasticsearchClient& client, const std::string& alias, const std::string& live,
                          const std::string& beside);

/// Why searches do not see the generation `live`, to which the alias should point; empty: they do.
std::string why_unseen(const AliasState& standing, const std::string& alias, const std::string& live);

/// Throws a retryable Error while `index` is less healthy than `than`. REQUIRES: both are there.
void require_as_healthy(ElasticsearchClient& client, const std::string& index, const std::string& than);

enum class TakeFrom {
  kExpected,  ///< throws Error if the alias points to anything else, unless its index is gone
  kAnybody,
};

/// Points the alias to `to` (E2), and in the same call the other aliases of `from`; each keeps its options.
/// From then on, a search of a pattern finds `to` instead of `from`.
void move_alias(ElasticsearchClient& client, const std::string& alias, const std::string& from,
                const std::string& to, TakeFrom take_from);

/// Throws Error if the alias cannot move from the generation `from` to `to`: it points to another index. It
/// may point to `to` already, and to nothing if `from` is gone.
void require_movable(const AliasState& standing, const std::string& alias, const std::string& from,
                     const std::string& to);

/// All indices ALIAS-NNNNNN, in the order of their numbers; and after them the one behind the alias and the
/// one called `named`, if these have another name, as an adopted index has.
std::vector<IndexState> generations_of(ElasticsearchClient& client, const std::string& alias,
                                       const std::string& named = {});

struct DroppedGeneration {
  std::string alias;
  std::string identity;  ///< of the pipeline
  std::string index;     ///< its real name; empty: any index made for the reindex
  std::int64_t reindex = 0;
  std::string live = {};  ///< the other one, which stays; empty: not known
};

/// Deletes the generations made for reindexes that the source does not know, since it went back to the time
/// before them. REQUIRES: this process leads, and the source follows one index of the alias alone.
void drop_forgotten(ElasticsearchClient& client, const std::string& alias, const std::string& identity);

/// Deletes the real index of a generation, and the alias for writing of the one that is left (E3).
void drop_generation(ElasticsearchClient& client, const DroppedGeneration& dropped);

}  // namespace lockstep
