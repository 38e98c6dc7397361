// The texts of the files that `init` writes.
#pragma once

#include <string>

#include "replicator/draft/tracks.h"

namespace lockstep {

/// A configuration without its tracks.
struct DraftPipeline {
  std::string pipeline;
  std::string source_url;          ///< without a password
  bool asks_for_password = false;  ///< the password comes from $PGPASSWORD
  std::string elasticsearch_url;
  std::string alias;
  std::string mapping_file;
  std::string view;
  std::vector<std::string> json;  ///< columns whose texts are JSON
};

/// The configuration as TOML. A table without a track is a comment with instructions.
std::string draft_configuration(const DraftPipeline& pipeline, const DraftTracks& tracks,
                                const SqlDialect& dialect);

/// Statements for the database: those of `view`, which may be empty, and the indices. Empty: there is none.
std::string draft_statements(const std::string& view, const TableGraph& graph, const DraftTracks& tracks,
                             const SqlDialect& dialect);

/// A name that a pipeline may have, made from one that an index may have.
std::string pipeline_name(const std::string& alias);

}  // namespace lockstep
