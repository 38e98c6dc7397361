#include "replicator/warnings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "replicator/utf8.h"

namespace lockstep {
namespace {

constexpr std::string_view kValue = "…";

constexpr WarningText kTexts[] = {
    // Differences from the state after the last apply.
    {"table_gone_or_renamed", "table … is gone or has another name; run `lockstep apply`"},
    {"table_gone", "table … is gone"},
    {"column_gone", "column … of table … is gone"},
    {"changes_missed",
     "…, so changes are missed; run `lockstep apply`, with other tracks if they name missing columns"},
    {"tracks_misfit", "…; run `lockstep apply`, with other tracks if they name missing columns"},
    {"not_followed",
     "changes of … are not followed, since triggers of it are missing or disabled; run `lockstep apply`"},
    {"subscribed",
     "changes of … that a subscription makes are not followed, since they fire no statement trigger; let "
     "source.url lead to the publisher, or run `lockstep verify --repair` after them"},
    {"triggers_gone",
     "triggers of table … are gone, so changes may be missed; a running service makes them again within "
     "seconds and compares, and `lockstep apply` does"},
    {"triggers_misfit",
     "triggers of table … do not fit it any more, so changes may be missed; a running service makes them "
     "again within seconds and compares, and `lockstep apply` does"},
    {"settings_differ",
     "triggers take … for …, and lockstep's session has …, so documents of changed rows may not be found; "
     "run `lockstep apply`"},
    {"view_gone", "view … is gone"},
    {"view_of_index_gone",
     "view … of index … is gone; create it, or change the configuration and run `lockstep apply`"},
    {"fields_missing", "index …: its documents have no …, which view … has; run `lockstep apply`"},
    {"older_lockstep",
     "index … was applied by an older lockstep, which noted less of what view … reads: documents may be out "
     "of date; run `lockstep apply`"},
    {"parts_changed",
     "index …: … changed since the last apply; documents may be out of date until `lockstep apply` is run"},
    {"documents_changed",
     "the documents of … depend on definitions that have changed: …; run `lockstep apply`, which writes them "
     "again"},
    {"parts_replaced", "… may have been another for a while since the last apply"},
    {"compared", "index …: …; a running service compares the index with its view, and `lockstep apply` does"},
    {"part_left",
     "… is no part of … any more, and the documents of its rows are still there; a running service sees to "
     "them within seconds, and `lockstep apply` does"},
    {"part_moved",
     "…, a part of …, is below other tables now, or was attached again, and the documents of its rows may be "
     "out of date; a running service sees to them within seconds, and `lockstep apply` does"},
    {"part_not_followed", "…, and changes of its rows are not followed: …"},
    // Writes of other programs.
    {"row_of_no_index",
     "lockstep's table … has a row of index …, which no pipeline has; something else wrote it: delete the "
     "row"},
    {"job_of_no_index",
     "job … is of index …, which this pipeline does not have, so it is never done; something else wrote it: "
     "correct it or delete it"},
    {"unknown_capture",
     "rows of the outbox are of capture …, which no pipeline has, so their changes are not known; "
     "something else wrote them: run `lockstep verify --repair`, then start lockstep again"},
    {"unknown_value", "its … is \"…\", which this lockstep does not know"},
    {"unfit_value", "its … is …, not …"},
    // Progress.
    {"slow_to_write",
     "Elasticsearch is slow to write index …: its changes wait, those of other indices do not"},
    {"unanswered",
     "Elasticsearch has not answered a request of … writes of index …, for more than … seconds"},
    {"job_stuck", "… cannot continue: …"},
    {"outbox_was_full",
     "the outbox was full (replication.max_outbox_size), and changes were dropped: documents may be out of "
     "date until every index is compared with its view"},
    // Rights.
    {"lead_held",
     "… holds the lock of the lead, and is no lockstep; the leader does without that lock, but end this: …"},
    {"session", "session … of role … (…)"},
    {"table_of_another",
     "table … belongs to …, whose code can become superuser: its triggers run with the rights of …; run "
     "`lockstep apply` once as …"},
    {"view_of_another",
     "view … belongs to …, whose code can become superuser: source.url connects as …; use a role that has no "
     "more than `lockstep plan --role NAME` prints"},
};

}  // namespace

std::span<const WarningText> warning_texts() {
  return kTexts;
}

std::string warning(std::string_view name, const std::vector<std::string>& values) {
  const auto* const found = std::ranges::find(kTexts, name, &WarningText::name);
  if (found == std::end(kTexts)) throw std::logic_error("no warning has the name " + std::string(name));
  std::string text;
  std::string_view rest = found->text;
  for (const std::string& value : values) {
    const std::size_t hole = rest.find(kValue);
    if (hole == std::string_view::npos) throw std::logic_error(std::string(name) + " has fewer values");
    text.append(rest.substr(0, hole)).append(value);
    rest.remove_prefix(hole + kValue.size());
  }
  if (rest.find(kValue) != std::string_view::npos)
    throw std::logic_error(std::string(name) + " lacks a value");
  return text.append(rest);
}

std::string stored_warning(std::string_view name, std::string_view values) {
  return warning(name, nlohmann::json::parse(as_utf8(values)).get<std::vector<std::string>>());
}

}  // namespace lockstep
