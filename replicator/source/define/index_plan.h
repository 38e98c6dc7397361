// How `apply` treats an index, decided once for every database: a database supplies its present state and the
// configured one, and writes the decision.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicator/source/definition.h"
#include "replicator/source/index_definition.h"
#include "replicator/source/outbox/job.h"

namespace lockstep {

/// A capture and a resolver each; the resolver may be empty.
using Tracks = std::set<std::pair<int, std::string>>;

/// An index as a configuration and a view describe it.
struct DescribedIndex : DocumentShape {
  std::vector<std::string> json_fields;  ///< those of the fields that hold JSON, if no type shows it
  std::string configured;  ///< as definition_text() of it; empty: an older Lockstep has stored none
  bool operator==(const DescribedIndex&) const = default;
};

/// An index as earlier runs of `apply` have left it.
struct AppliedIndexRow : DescribedIndex {
  int id = 0;
  std::string definition;  ///< the parts of the view, as the database's view_parts stores them
  bool followed = true;    ///< false: a reindex is about to begin with it
  std::optional<std::string>
      beside;                ///< the alias whose other generation this is; none: it is the alias's own
  bool was_swapped = false;  ///< of such a generation: the alias has moved since the reindex began
  Tracks tracks;
  bool operator==(const AppliedIndexRow&) const = default;
};

/// By alias, or by the name of a generation.
using AppliedIndices = std::map<std::string, AppliedIndexRow>;

/// They, with their definitions.
std::vector<StoredIndex> stored_indices_of(const AppliedIndices& indices);

/// An index that is to be applied.
struct IndexToPlan {
  const DescribedIndex& wanted;
  const Tracks& tracks;
  const AppliedIndexRow* applied;    ///< null: it is new
  bool is_filled = false;            ///< SourceDefinition::note_filled()
  std::vector<std::string> changed;  ///< its parts that are different now
  std::string gap;  ///< why changes of a tracked table may have been missed; empty: none were
};

struct IndexChange {
  PlanStep::Action action = PlanStep::Action::kCreate;
  std::string detail;
  std::string reason;         ///< of the jobs
  std::vector<JobKind> jobs;  ///< to be added, in this order
};

/// None: the documents are as wanted.
std::optional<IndexChange> plan_index(const IndexToPlan& index);

/// Steps that every database has, with its own statements. `why` is a reason_to_compare().
PlanStep change_step(const std::string& alias, const IndexChange& change, std::string sql);
PlanStep comparison_step(const std::string& alias, const std::string& why, std::string sql);
PlanStep noting_step(const std::string& alias, std::string sql);
PlanStep drop_step(const std::string& alias, std::string sql);

}  // namespace lockstep
