#include "replicator/cli/options/dead_letter_options.h"

#include "replicator/cli/options/chosen_indices.h"
#include "replicator/cli/options/point_in_time.h"
#include "replicator/error.h"

namespace lockstep {

void DeadLetterOptions::add_to(Options options) {
  options.option("ID", ids_, "Ids of documents");
  options.option("--index", aliases_, "Only those of this index")
      .value_name("ALIAS")
      .one_value_each();  // ids may follow it
  options.option("--error", error_, "Only those of this error type, or with this text in the reason")
      .value_name("TEXT");
  options
      .option("--since", since_,
              "Only those last refused since: a time (UTC), now, today, yesterday, or an age such as 2h")
      .value_name("TIME");
  options.option("--until", until_, "Only those last refused before this time; default: now")
      .value_name("TIME");
}

void DeadLetterOptions::add_all_to(Options options) {
  options.flag("--all", all_, "All of them; required if no other option selects some");
}

bool DeadLetterOptions::choose_some() const {
  return !ids_.empty() || !aliases_.empty() || !error_.empty() || since_ || until_;
}

void DeadLetterOptions::require_choice(const std::string& command) const {
  if (all_ && !ids_.empty()) throw UsageError("--all excludes ids");
  if (all_ || choose_some()) return;
  throw UsageError(command +
                   " needs ids, --index, --error, --since or --until; --all means all dead letters");
}

DeadLetterFilter DeadLetterOptions::filter(const AppliedPipeline& pipeline,
                                           std::chrono::system_clock::time_point now) const {
  DeadLetterFilter filter;
  for (const AppliedIndex* index : chosen_indices(pipeline, aliases_)) filter.indices.push_back(index->id);
  for (const std::string& id : ids_) filter.ids.push_back({id});
  filter.error = error_;
  if (since_) filter.since = point_in_time("--since", *since_, now);
  filter.until = until_ ? point_in_time("--until", *until_, now) : now;
  return filter;
}

}  // namespace lockstep
