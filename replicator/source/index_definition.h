// An index's documents in a configuration file: its view, which columns of it hold JSON, its tracks. It is
// stored with each index, because two generations of one index may have one each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/definition.h"

namespace lockstep {

/// An index in the source: an alias's, or the generation next to it.
struct StoredIndex {
  std::string name;                      ///< the alias; of a generation next to it, the real index's
  std::optional<std::string> beside;     ///< the alias next to whose index it is; none: it is the alias's own
  std::string configured;                ///< its definition; empty: an older Lockstep has stored none
  bool was_swapped = false;              ///< of a generation next to another: the alias has moved since the
                                         ///< reindex began
  bool followed = true;                  ///< false: a reindex is about to begin with it
  std::vector<std::string> fields = {};  ///< of its documents
};

/// An alias's configured definition, for a reindex to begin with. Throws UsageError if there is none.
const IndexConfig& definition_for_reindex(const Config& config, const std::string& alias);

/// How `plan` describes writing all documents of an index again. `reason`: why.
std::string repetition_text(const std::string& reason, bool is_id_changed);

/// Why an index is compared with its view when these parts of its definition are restored.
std::string reason_to_compare(const std::vector<std::string>& replaced);

/// The definition as one JSON text. Equal definitions have equal texts.
std::string definition_text(const IndexConfig& index);

/// The wanted state of each index, by its name: those of the configuration, and the generations next to them.
/// One of them has the configuration's definition; the other one keeps its own, unless both had the same. The
/// one that the configuration does not describe, and the next generation once the alias has moved, keeps its
/// fields: its mapping may refuse later ones of the view. Throws Error for a stored definition that no
/// Lockstep has written.
std::vector<IndexConfig> wanted_indices(const Config& config, const std::vector<StoredIndex>& stored);

/// The present state of each index, by its name, whatever the current configuration. A generation with which
/// a reindex is about to begin gets all fields of its view, any other index keeps those that it has. Throws
/// as wanted_indices() does, and Error if an index has no stored definition.
std::vector<IndexConfig> stored_indices(const Config& config, const std::vector<StoredIndex>& stored);

/// The aliases whose index has another definition than in the configuration.
std::vector<std::string> redefined(const Config& config, const std::vector<StoredIndex>& stored);

/// Faults from `first` on concern `index`; if the configuration does not describe it, they name their index
/// and how to bring it in line, and its warnings, which it had before, are left out.
void attribute_findings(const Config& config, const IndexConfig& index, std::size_t first,
                        std::vector<Finding>& findings);

/// Leaves out of `fields`, those that the view of `index` has, the ones that its documents do not get.
void keep_fields(const IndexConfig& index, std::vector<std::string>& fields);

/// How an index's documents are made and found.
struct DocumentShape {
  std::string view;
  std::string id_type;
  bool routed = false;
  std::vector<std::string> fields;
  bool operator==(const DocumentShape&) const = default;
};

/// The changes from `is` to `wanted`.
std::vector<DefinitionDifference> compare_shapes(const DocumentShape& is, const DocumentShape& wanted);

/// Whether it is a field of the view that the documents do not have.
bool is_later_field(const DefinitionDifference& difference);

/// "column length is not in the documents, column _id is integer, in the view text"
std::string shape_text(const std::vector<DefinitionDifference>& differences);

}  // namespace lockstep
