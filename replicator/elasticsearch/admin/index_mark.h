// The mark that an index of ours carries in `_meta.lockstep` of its mapping: its owner, and its writers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "replicator/document_version.h"
#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// The source as the index last recorded it. A source with the same place and timeline but less progress is
/// an older one, such as a restored backup.
struct SourceMark {
  std::string place;          ///< names the database
  std::string timeline;       ///< changes with a promotion or a recovery to an earlier point
  std::int64_t progress = 0;  ///< grows while place and timeline stay the same
  std::string tables = {};    ///< names Lockstep's tables there; empty if an older Lockstep wrote the mark
  std::string mark = {};      ///< the newest that was left there; empty: it needs none
  bool operator==(const SourceMark&) const = default;
};

/// To whom an index belongs: `_meta.lockstep` of its mapping.
struct IndexMark {
  std::string pipeline;
  std::string identity;  ///< the pipeline's uuid in its source
  std::string alias;
  std::string view;
  std::string mapping_checksum;
  Epoch epoch;        ///< the newest leadership known to have written here
  SourceMark source;  ///< from which it wrote; empty before the first write
  /// Fields of the mapping that only documents written since have, while the source was not asked to write
  /// the others again: "field title.raw". Empty: none.
  std::string unwritten = {};
  /// The index from which it was taken over, until the source has been asked to compare its documents with
  /// the view: "index products". Empty: nothing.
  std::string uncompared = {};
  /// Why the next leader compares its documents with the view: "its mark was put back". Empty: it need not.
  std::string doubt = {};
  bool operator==(const IndexMark&) const = default;
};

/// The mark of an index; none if it has none, or one without an epoch (the indices of locks have such).
/// alias, view and checksum may be missing, and differ from the wanted ones then; so may `source`: nothing
/// was written yet. Throws Error, naming the field, for any other that is missing, for any of another type,
/// and for an epoch that no leader reaches: a mark that is read incompletely would hide a restored source.
std::optional<IndexMark> read_mark(const IndexState& index);

/// As read_mark(), and none for a refused one.
std::optional<IndexMark> readable_mark(const IndexState& index);

/// The pipeline that a mark names, even one that read_mark() refuses, if it is not `pipeline` with this
/// identity. None: there is no mark, it names that one, or none.
std::optional<std::string> other_owner(const IndexState& index, const std::string& pipeline,
                                       const std::string& identity);

/// As `_meta.lockstep` has it.
nlohmann::json mark_json(const IndexMark& mark);

/// An index's `_meta`, ours and others'.
nlohmann::json meta_of(const IndexState& index);

/// Makes sure that the mark of an index that was just written has these keys; a null: it has none of that
/// name. An engine has no compare-and-set for mappings, so that another process that had read the mark before
/// writes the old one back. It has sent that by now: this waits until the cluster has done all its pending
/// changes, looks again, and writes lost keys again. Throws a retryable Error if they are lost again and
/// again.
void keep_in_mark(ElasticsearchClient& client, const std::string& index, const nlohmann::json& keys);

/// SourceMark as a mark has it.
nlohmann::json source_json(const SourceMark& source);

}  // namespace lockstep
