// Finds the row that makes a view fail, so that the person who has to fix it need not look for it.
#pragma once

#include <string>

#include "replicator/ids.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// `error` with the _id of the first of `ids` whose document cannot be rendered; `error` as it is when they
/// can now, when the view fails whichever row is asked for, and when it takes long to find the row.
/// `statement` renders documents: $1 bytes, $2 ids. REQUIRES: no transaction is open on the session.
ViewError naming_failing_row(PostgresSession& session, const PostgresIndex& index,
                             const std::string& statement, const DocumentIds& ids, const ViewError& error);

}  // namespace lockstep
