// What a configuration file says of an index's documents: its view, which columns of it hold JSON, its
// tracks. It is stored beside each index, because two generations of one index may have one each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/definition.h"

namespace lockstep {

/// An index in the source: the one of an alias, or the generation beside it.
struct StoredIndex {
  std::string name;                   ///< the alias; of a generation beside it, the real index's
  std::optional<std::string> beside;  ///< the alias beside whose index it is; none: it is the alias's own
  std::string configured;             ///< its definition; empty: an older lockstep has stored none
  bool was_swapped = false;           ///< of a generation beside: the alias has moved since the reindex began
  bool followed = true;               ///< false: a reindex is about to begin with it
  std::vector<std::string> fields = {};  ///< of its documents
};

/// The one that the configuration says of an alias, for a reindex to begin with. Throws UsageError when it
/// says none.
const IndexConfig& definition_for_reindex(const Config& config, const std::string& alias);

/// What `plan` says of writing all documents of an index again. `reason`: why.
std::string repetition_text(const std::string& reason, bool is_id_changed);

/// Why an index is compared with its view when these parts of its definition are what they were.
std::string reason_to_compare(const std::vector<std::string>& replaced);

/// The definition as one JSON text. Equal definitions have equal texts.
std::string definition_text(const IndexConfig& index);

/// What each index is to be, by its name: those of the configuration, and the generations beside them. One of
/// them has the configuration's definition; the other one keeps its own, unless both had the same. Which of
/// them the configuration does not describe, and the one beside once the alias has moved, keeps its fields:
/// its mapping may refuse what the view got later. Throws Error for a stored definition that no lockstep has
/// written.
std::vector<IndexConfig> wanted_indices(const Config& config, const std::vector<StoredIndex>& stored);

/// What each index is, by its name, whatever the configuration says now. A generation that a reindex is about
/// to begin with gets all fields of its view, any other index keeps those that it has. Throws as
/// wanted_indices() does, and Error when an index has no stored definition.
std::vector<IndexConfig> stored_indices(const Config& config, const std::vector<StoredIndex>& stored);

/// The aliases whose index has another definition than the configuration says.
std::vector<std::string> redefined(const Config& config, const std::vector<StoredIndex>& stored);

/// Faults from `first` on concern `index`; where the configuration does not describe it, they say whose they
/// are and how to bring it in line, and its warnings, which it had before, are left out.
void attribute_findings(const Config& config, const IndexConfig& index, std::size_t first,
                        std::vector<Finding>& findings);

/// Leaves out of `fields`, those that the view of `index` has, what its documents do not get.
void keep_fields(const IndexConfig& index, std::vector<std::string>& fields);

/// What makes an index's documents, and where they are found.
struct DocumentShape {
  std::string view;
  std::string id_type;
  bool routed = false;
  std::vector<std::string> fields;
  bool operator==(const DocumentShape&) const = default;
};

/// What is to change from `is` to `wanted`.
std::vector<DefinitionDifference> compare_shapes(const DocumentShape& is, const DocumentShape& wanted);

/// Whether it is a field of the view that the documents do not have.
bool is_later_field(const DefinitionDifference& difference);

/// "column length is not in the documents, column _id is integer, in the view text"
std::string shape_text(const std::vector<DefinitionDifference>& differences);

}  // namespace lockstep
