// Takes over an index that another program, or an installation that is gone, has made and filled. It keeps
// its documents, mapping and settings, and gets our mark. An index that has the alias's own name gets another
// one: an alias cannot have an index's name.
//
// O1. Searches find the documents at every moment: the name moves in one call, which removes the old index.
// O2. The removed index has a clone, made while writes were blocked.
// O3. Each step finds the work of an interrupted one, or of another process, and continues from there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_fitness.h"
#include "replicator/elasticsearch/admin/index_mark.h"

namespace lockstep {

/// Why documents of this index cannot be compared with a view, or would not stay as the view gives them;
/// none: they can.
std::optional<UnfitIndex> why_not_adoptable(const IndexState& index);

/// Gives the one index behind `alias`, or the one of that name, the mark; afterwards `alias` is an alias. The
/// mark may replace that of the installation `taken_from` of the same pipeline, and keeps its epoch, so that
/// new versions are above all that it has written. Throws Error as the client does, and if the index belongs
/// to yet another pipeline. An index of the alias's name that then still has this name takes writes as
/// before.
void adopt_index(ElasticsearchClient& client, const std::string& alias, IndexMark mark,
                 const std::string& taken_from = {});

/// Takes the block of writes away that an adoption which was cut off may have left behind `alias`. Returns
/// the indices that had one.
std::vector<std::string> let_writes_in(ElasticsearchClient& client, const std::string& alias);

}  // namespace lockstep
