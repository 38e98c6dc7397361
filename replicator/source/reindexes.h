// Reindexes: indices that get a second generation, each a row in the source with its state. People start one
// and order its steps; the leader takes it from state to state (pipeline/reindexing.h).
//
//   creating --> filling --> comparing --> swapping <--> kept
//      |            |            |             |           |
//      '------------'------------+-------------'-----------'
//                                v
//                             dropping --> failed
//                                |           |
//                                '-----------'--> nothing is left
//
// X1. An alias has at most one reindex, and one that failed does not count.
// X2. A step from state to state takes effect with everything that belongs to it, or not at all: the other
//     generation's index with its tracks and its first job, the exchange of both, the end of one.
// X3. Only the leader takes a step, and only from the state that it knows.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/ids.h"
#include "replicator/source/outbox/job.h"

namespace lockstep {

/// A reindex in the source.
struct ReindexId {
  std::int64_t value = 0;
  auto operator<=>(const ReindexId&) const = default;
};

enum class ReindexState {
  kCreating,   ///< the real index of the new generation is to be made
  kFilling,    ///< it is filled, and follows every change
  kComparing,  ///< it is full, and compared with its view
  kSwapping,   ///< the alias moves to the other generation
  kKept,       ///< it has moved; the other one follows every change, so that it can move back
  kDropping,   ///< the other generation is no longer followed; its real index goes
  kFailed,     ///< it was taken back; Reindex::failure has the reason
};

/// "creating", "filling", "comparing", "swapping", "kept", "dropping", "failed".
std::string_view name_of(ReindexState state);

/// Throws Error for any other text, naming it and the reindex.
ReindexState reindex_state(std::string_view name, ReindexId reindex);

/// Whether a reindex goes from one state to the other, as drawn above; to none: nothing is left of it.
/// PostgreSQL has the same table in its advance_reindex(), and the contract of a source compares each source
/// with this one.
bool is_way(ReindexState from, std::optional<ReindexState> to);

/// Throws Error unless it does.
void require_way(ReindexState from, std::optional<ReindexState> to);

/// A person's wish for a reindex.
enum class ReindexWish { kNone, kBack, kFinish, kAbort };

/// "", "back", "finish", "abort".
std::string_view name_of(ReindexWish wish);

/// Throws Error for any other text, naming it and the reindex.
ReindexWish reindex_wish(std::string_view name, ReindexId reindex);

/// An order to start a reindex.
struct WantedReindex {
  std::string alias;                          ///< of the pipeline
  std::string mapping;                        ///< of the new generation, as in the mapping file
  std::chrono::seconds keep{};                ///< how long the other generation is followed after each swap
  std::optional<std::int64_t> max_rate = {};  ///< see Reindex::max_rate
};

struct Reindex {
  ReindexId id;
  std::string alias;
  ReindexState state = ReindexState::kCreating;
  std::string mapping;          ///< of the new generation, as in the mapping file
  std::optional<IndexId> live;  ///< the generation that the alias points to; in kSwapping, still
  std::optional<IndexId>
      beside;  ///< the other one; none: not made yet, or dropped; in kCreating, only defined
  std::string
      view;  ///< of the other one, as its configuration names it; empty: that of the configuration now
  bool has_own_definition = false;  ///< the other one has another view or other tracks than the live one
  std::string live_name;            ///< their real indices; empty in kCreating
  std::string beside_name;
  ReindexWish wish = ReindexWish::kNone;
  bool is_forced = false;       ///< a person accepts the consequences of refused documents and a moved alias
  bool was_swapped = false;     ///< the alias has moved at least once
  std::chrono::seconds keep{};  ///< how long the other generation is still followed; in kKept
  /// Documents a second at most that are written or compared to fill the new generation; none: no limit.
  std::optional<std::int64_t> max_rate;
  std::string reason;   ///< why it waits; empty: it does not
  std::string failure;  ///< why it is taken back; empty: the operator wants that
};

/// A generation as Elasticsearch has it.
struct GenerationNames {
  std::string index;       ///< the real index
  std::string written_by;  ///< an alias of it alone
};

/// The generations with which kFilling begins.
struct NewGeneration {
  GenerationNames live;
  GenerationNames beside;
  std::int64_t documents = 0;  ///< about
};

/// The step that advances a reindex from its state.
struct ReindexStep {
  std::optional<ReindexState> to;  ///< none: it is over, and nothing is left of it
  NewGeneration generation = {};   ///< for kFilling
  std::string failure = {};        ///< for kDropping
};

/// The speed of filling an index, or comparing it with its view.
struct Pace {
  std::int64_t documents = 0;  ///< at least 1
  std::chrono::milliseconds took{};
  bool operator==(const Pace&) const = default;
};

class Reindexes {
 public:
  virtual ~Reindexes() = default;

  /// Those of the pipeline, oldest first.
  virtual std::vector<Reindex> all() = 0;

  /// Starts one. False: the alias has one that has not failed.
  virtual bool start(const WantedReindex& wanted) = 0;

  /// Changes its Reindex::max_rate. False: it is gone.
  virtual bool limit(ReindexId reindex, std::optional<std::int64_t> max_rate) = 0;

  /// Notes an operator's order. kNone with `force`: only that. False: it is gone.
  enum class Force { kNo, kYes };
  virtual bool want(ReindexId reindex, ReindexWish wish, Force force) = 0;

  /// Takes a step from `reindex.state`. False: it is in another state by now, or an `apply` is under way and
  /// the step has to be tried again. Throws Deposed if a later epoch than this leads. The leader loads the
  /// pipeline again if the generations have changed.
  virtual bool advance(const Reindex& reindex, Epoch epoch, const ReindexStep& step) = 0;

  /// Notes why it waits; empty: it does not.
  virtual void note(ReindexId reindex, const std::string& reason) = 0;

  /// The number of documents that are dead letters of the other generation and not of the live one.
  virtual std::int64_t refused_beside(const Reindex& reindex) = 0;

  /// Notes how fast the last job of this kind over the whole index was, in place of the one before.
  virtual void note_pace(IndexId index, JobKind kind, const Pace& pace) = 0;

  /// None: nothing was noted.
  virtual std::optional<Pace> pace(IndexId index, JobKind kind) = 0;
};

}  // namespace lockstep
