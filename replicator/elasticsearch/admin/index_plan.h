// Plans and carries out the steps of `apply`, so that an alias points to an index with the wanted mapping and
// our mark. It refuses an index that belongs to another program, and never deletes anything but the old name
// of an adopted index.
//
// I1. An alias of ours points to exactly one index, whose mapping has our mark in _meta.lockstep.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_mapping.h"
#include "replicator/elasticsearch/admin/index_mark.h"

namespace lockstep {

/// An index as the configuration wants it.
struct DesiredIndex {
  std::string alias;
  std::string view;
  IndexMapping mapping;
  std::string pipeline;
  std::string identity;  ///< empty if the pipeline is not applied to the source yet
  /// Of the view's documents; none: not known.
  std::optional<std::vector<std::string>> fields = {};
  /// The differences of the view's documents from those of the index: "view", "column title".
  std::vector<MappingDifference> documents = {};
  /// The treatment of an index that Lockstep has not made, behind the alias or of its name.
  enum class Foreign { kRefuse, kAdopt };
  Foreign foreign = Foreign::kRefuse;
};

struct IndexPlan {
  enum class Kind {
    kNothing,
    kCreate,   ///< `index` with the alias
    kUpdate,   ///< mapping, settings or mark of `index`
    kReindex,  ///< `index` is ours, but the wanted mapping needs a new one
    kAdopt,    ///< `index` has no owner, or one that is gone, and becomes ours (adoption.h)
    kRefuse,   ///< the alias or the index is not ours
  };
  Kind kind = Kind::kNothing;
  std::string alias;
  std::string index;                 ///< the real index; empty for kRefuse
  std::vector<std::string> changes;  ///< for people, a line each; empty for kNothing and kRefuse
  std::string problem;               ///< kReindex and kRefuse: why
  std::string remedy;                ///< kReindex and kRefuse: the remedy
  /// In which way each of them can be changed, with those of the documents; of kAdopt, too. None is
  /// Way::kUnknown. Of kNothing and kUpdate those that are not in place, too: changes of the index that only
  /// another one can undo.
  std::vector<MappingDifference> differences;
  /// Aliases of `index` besides `alias`: a reindex moves these along.
  std::vector<std::string> other_aliases;
  /// Fields that earlier documents will not have, so that every document has to be written again: "field
  /// title.raw". Empty: none.
  std::string unwritten;
  bool was_cut_off = false;  ///< kAdopt: it was begun for this pipeline
  /// kAdopt: the identity of the installation that the mark names, another one of the same pipeline. Empty:
  /// none.
  std::string taken_from;
};

/// "nothing", "create", "update", "reindex", "adopt", "refuse".
std::string_view name_of(IndexPlan::Kind kind);

/// Compares and changes nothing; may create an index ALIAS-check-… and delete it at once (trial_index.h).
/// Throws Error as the client does, and if Elasticsearch refuses the mapping.
IndexPlan plan_index(ElasticsearchClient& client, const DesiredIndex& desired);

/// A refusal (kRefuse) if every document with these fields would be refused; none if the mapping takes
/// them.
std::optional<IndexPlan> refusal_of_fields(const DesiredIndex& desired,
                                           const std::vector<std::string>& fields);

/// A refusal (kRefuse) if no index with the wanted mapping may be followed (index_fitness.h); none if it
/// may.
std::optional<IndexPlan> refusal_of_mapping(const DesiredIndex& desired);

/// Looks at an index that was just made, into which an index template may have put more than the mapping file
/// has. Deletes it and throws Error if it may not be followed (index_fitness.h).
void require_fit_index(ElasticsearchClient& client, const std::string& index);

/// Carries out a plan; does nothing for kNothing. Throws Error, with the plan's problem and remedy for
/// kReindex and kRefuse, and with the remedy to reindex if Elasticsearch refuses a change in place.
void apply_index_plan(ElasticsearchClient& client, const DesiredIndex& desired, const IndexPlan& plan);

/// After a plan with `unwritten` was carried out, and the source was asked to write every document again.
void forget_unwritten(ElasticsearchClient& client, const DesiredIndex& desired, const std::string& index);

/// After a plan kAdopt was carried out, and the source was asked to compare every document.
void forget_uncompared(ElasticsearchClient& client, const DesiredIndex& desired);

/// The body that creates an index: settings, and mappings with the mark of this epoch.
nlohmann::json new_index_body(const DesiredIndex& desired, Epoch epoch);

/// Why Elasticsearch refuses a mapping; none if it accepts it. Leaves nothing behind: it simulates a
/// template, which checks settings, analyzers and mappings as creating an index does. Without the cluster
/// privilege manage_index_templates it creates an index ALIAS-check-… and deletes it at once.
std::optional<std::string> validate_mapping(ElasticsearchClient& client, const std::string& alias,
                                            const IndexMapping& mapping);

/// Puts back the lost mark of an index that this pipeline follows, with a doubt (IndexMark::doubt). Throws
/// Error if `plan` is another one than to adopt an index with another name than the alias, and as
/// adopt_index() does.
void put_mark_back(ElasticsearchClient& client, const DesiredIndex& desired, const IndexPlan& plan);

/// The real index behind an alias of ours.
struct MarkedIndex {
  IndexMark mark;
  /// Changes when the index is deleted and created again, and when a snapshot is restored over it.
  std::string uuid;
};

/// The remedy if the index behind the searchers' alias has no mark, or no readable one.
std::string remedy_of_lost_mark(const std::string& alias);

/// How messages call an index of ours that is looked up by an alias, and what they advise.
struct SoughtIndex {
  std::string name;
  std::string if_gone;      ///< the remedy if there is none
  std::string if_unmarked;  ///< the remedy if it has no mark, or no readable one
};

/// Throws Error, in the words of `sought`, if the alias is missing, points to several indices or to one
/// without a readable mark.
MarkedIndex marked_index(ElasticsearchClient& client, const std::string& alias, const SoughtIndex& sought);

/// The same for the result of ElasticsearchClient::indices_of(alias).
MarkedIndex marked_index_of(const std::string& alias, const std::vector<IndexState>& found,
                            const SoughtIndex& sought);

/// Both for the searchers' alias: if the index is gone, `apply` makes it.
MarkedIndex marked_index(ElasticsearchClient& client, const std::string& alias);
MarkedIndex marked_index_of(const std::string& alias, const std::vector<IndexState>& found);

/// Records in the mark of the index behind an alias the writer from now on, and removes `settled` if it is
/// the mark's doubt; leaves the rest of the mark alone. Throws Error as marked_index() does, and if the mark
/// is not that of the pipeline with this identity. Needs the index privilege `manage`.
void set_index_writer(ElasticsearchClient& client, const std::string& alias, const SoughtIndex& sought,
                      const std::string& identity, Epoch epoch, const SourceMark& source,
                      const std::string& settled = {});

}  // namespace lockstep
