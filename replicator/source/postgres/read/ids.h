// Document ids in SQL: those that changes lead to, and those that come from outside of the source, since what
// Elasticsearch has under an alias may not even be a value of the view's _id.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/postgres/session/session.h"
#include "replicator/source/source.h"

namespace lockstep {

/// SQL that turns a text expression into a value comparable with the view's _id by an index; null when the
/// text is none of its type.
std::string castable_id(const AppliedIndex& index, std::string_view text);

/// The type of what castable_id() gives.
std::string_view castable_type(const AppliedIndex& index);

/// `select k` over all ids that the changes lead to, nulls and duplicates among them; empty when they lead to
/// none.
std::string ids_query(const pqxx::transaction_base& transaction, const AppliedIndex& index,
                      const std::vector<CapturedChange>& changes);

/// Runs `step`, which reads a view of `index`: what fails, and will again, leaves as a ViewError.
void reading_view(const AppliedIndex& index, const std::string& doing, const std::function<void()>& step);

}  // namespace lockstep
