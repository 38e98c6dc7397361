#include "replicator/source/sqlite/define/plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "replicator/embedded_file.h"
#include "replicator/listed.h"
#include "replicator/quantity.h"
#include "replicator/source/sqlite/catalog/index_text.h"
#include "replicator/source/sqlite/session/migrations.h"
#include "replicator/source/sqlite/session/outbox_row.h"
#include "replicator/source/sqlite/session/sql_file.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/template.h"

namespace lockstep {
namespace {

using Action = PlanStep::Action;

std::string quoted_or_null(const std::string& text) {
  return text.empty() ? "null" : quoted_text(text);
}

std::string statements(std::string_view name, const Filling& filling) {
  const std::string text = fill_template(sqlite_sql(name), filling);
  return text.substr(0, text.find_last_not_of(";\n") + 1);
}

class Planner {
 public:
  explicit Planner(const SqlitePlanInput& input)
      : in_(input),
        schema_(input.connection.schema()),
        reads_(input.connection),
        next_capture_(input.applied.last_capture),
        next_index_(input.applied.last_index) {}

  std::vector<PlanStep> plan() {
    plan_pipeline();
    plan_limit();
    plan_captures();
    plan_triggers();
    for (const SqliteIndexDesign& index : in_.design.indices) plan_index(index);
    drop_indices();
    drop_captures();
    if (steps_.empty()) return {};
    steps_.back().sql +=
        ";\nupdate " + schema_ +
        "_pipeline set revision = revision + 1, applied_id = (select coalesce(max(id), 0) from " + schema_ +
        "_outbox) where id = " + std::to_string(pipeline_);
    return std::move(steps_);
  }

 private:
  void step(Action action, std::string object, std::string detail, std::string sql) {
    steps_.push_back({action, std::move(object), std::move(detail), std::move(sql)});
  }

  Filling filling() const {
    Filling filling;
    filling.holes = {{"schema", schema_}, {"pipeline", std::to_string(pipeline_)}};
    return filling;
  }

  // --- pipeline ---

  void plan_pipeline() {
    is_new_ = !in_.applied.pipeline;
    pipeline_ = is_new_ ? in_.applied.last_pipeline + 1 : *in_.applied.pipeline;
    if (!is_new_) return;
    Filling added = filling();
    added.holes["name"] = quoted_text(in_.pipeline);
    step(Action::kCreate, "pipeline " + in_.pipeline, "its checkpoint begins here",
         statements("add_pipeline", added));
  }

  // The file has one outbox, so another pipeline's limit stays when this one has none.
  void plan_limit() {
    const std::optional<std::int64_t> bytes = in_.design.max_outbox_size;
    const bool is_alone = in_.applied.pipelines - (is_new_ ? 0 : 1) == 0;
    std::optional<std::int64_t> rows = in_.applied.max_rows;
    if (bytes) {
      rows = std::max<std::int64_t>(*bytes / kOutboxRowBytes, 1);
    } else if (is_alone) {
      rows.reset();
    }
    if (rows == in_.applied.max_rows) return;
    step(in_.applied.max_rows ? Action::kChange : Action::kCreate, "limit of the outbox",
         rows ? size_text(*bytes) + ", about " + std::to_string(*rows) +
                    " rows, beyond which changes are left out and every index is compared"
              : "none",
         "update " + schema_ + "_outbox_limit set max_rows = " + (rows ? std::to_string(*rows) : "null"));
  }

  // --- captures and their triggers ---

  void plan_captures() {
    for (const SqliteTableCapture& wanted : in_.design.captures) {
      const auto known = std::find_if(
          in_.applied.captures.begin(), in_.applied.captures.end(),
          [&](const SqliteTableCapture& applied) { return applied.identity() == wanted.identity(); });
      captures_.push_back(wanted);
      if (known != in_.applied.captures.end()) {
        captures_.back().id = known->id;
        known_.emplace(known->id, *known);
      } else {
        captures_.back().id = ++next_capture_;
        add_capture(captures_.back());
      }
    }
  }

  void add_capture(const SqliteTableCapture& capture) {
    const std::string id = std::to_string(capture.id);
    step(Action::kCreate, "capture of " + listed(capture.value) + " of " + capture.relation,
         capture.columns ? "when one of these columns changes: " + listed(*capture.columns) : "",
         "update " + schema_ + "_counter set capture = " + id + ";\ninsert into " + schema_ +
             "_capture (id, pipeline, relation, value, query, columns) values (" + id + ", " +
             std::to_string(pipeline_) + ", " + quoted_text(capture.relation) + ", " +
             quoted_text(names_text(capture.value)) + ", " + quoted_or_null(capture.query) + ", " +
             (capture.columns ? quoted_text(names_text(*capture.columns)) : "null") + ")");
  }

  void plan_triggers() {
    const bool had_limit = looks_at_limit(in_.connection, in_.applied);
    const bool has_limit = in_.design.max_outbox_size.has_value();
    for (const SqliteTableCapture& capture : captures_) {
      const std::optional<SqliteTable> table = find_table(in_.connection, capture.relation);
      std::map<std::string, SqliteAppliedTrigger> others = triggers_of(capture.id);
      for (const SqliteTrigger& trigger :
           wanted_triggers(in_.connection, reads_, *table, capture, has_limit)) {
        plan_trigger(trigger);
        others.erase(trigger.name);
      }
      // A new capture has missed nothing: the indices that follow it have other tracks.
      // Nor have those indices whose triggers are as they were applied, when another view comes or goes.
      const auto known = known_.find(capture.id);
      if (known != known_.end() &&
          !has_triggers(wanted_triggers(in_.connection, reads_, *table, capture, had_limit)) &&
          !has_triggers(wanted_triggers(in_.connection, reads_, *table, known->second, had_limit)))
        gaps_.insert(capture.id);
      for (const auto& [name, trigger] : others) steps_.push_back(drop_trigger(name, trigger));
    }
  }

  void plan_trigger(const SqliteTrigger& wanted) {
    const auto stored = in_.applied.triggers.find(wanted.name);
    if (stored == in_.applied.triggers.end()) {
      steps_.push_back(create_trigger(wanted));
    } else if (!is_same_trigger(stored->second, wanted)) {
      step(Action::kChange, "trigger " + wanted.name + " on " + wanted.table, "it does not fit any more",
           "drop trigger " + wanted.name + ";\n" + wanted.sql);
    }
  }

  // Whether the file has these triggers as they are: by others, changes may have been missed.
  bool has_triggers(const std::vector<SqliteTrigger>& triggers) const {
    return std::all_of(triggers.begin(), triggers.end(), [&](const SqliteTrigger& trigger) {
      const auto stored = in_.applied.triggers.find(trigger.name);
      return stored != in_.applied.triggers.end() && is_same_trigger(stored->second, trigger);
    });
  }

  std::map<std::string, SqliteAppliedTrigger> triggers_of(int capture) const {
    std::map<std::string, SqliteAppliedTrigger> own;
    const std::string prefix = trigger_prefix(schema_, capture);
    for (const auto& [name, trigger] : in_.applied.triggers) {
      if (name.starts_with(prefix)) own.emplace(name, trigger);
    }
    return own;
  }

  // The outbox's remaining rows of a dropped capture lead nowhere. The indices that followed it are written
  // again, because their tracks have changed.
  void drop_captures() {
    for (const SqliteTableCapture& applied : in_.applied.captures) {
      if (std::any_of(captures_.begin(), captures_.end(),
                      [&](const auto& kept) { return kept.id == applied.id; }))
        continue;
      for (const auto& [name, trigger] : triggers_of(applied.id))
        steps_.push_back(drop_trigger(name, trigger));
      step(Action::kDrop, "capture of " + listed(applied.value) + " of " + applied.relation, "",
           "delete from " + schema_ + "_capture where id = " + std::to_string(applied.id));
    }
  }

  // --- indices ---

  Tracks wanted_tracks(const SqliteIndexDesign& index) const {
    Tracks tracks;
    for (const SqliteTrackDesign& track : index.tracks)
      tracks.emplace(captures_[track.capture].id, track.resolver);
    return tracks;
  }

  std::string gap_of(const SqliteIndexDesign& index) const {
    for (const SqliteTrackDesign& track : index.tracks) {
      if (gaps_.contains(captures_[track.capture].id))
        return "triggers of " + track.table + " were missing or did not fit";
    }
    return {};
  }

  void plan_index(const SqliteIndexDesign& index) {
    const auto applied = in_.applied.indices.find(index.alias);
    const AppliedIndexRow* const known = applied == in_.applied.indices.end() ? nullptr : &applied->second;
    const Tracks tracks = wanted_tracks(index);
    const bool is_new = known == nullptr;
    const std::optional<IndexChange> change = lockstep::plan_index(
        {index, tracks, known, in_.filled.contains(index.alias),
         is_new ? std::vector<std::string>() : changed_parts(index.parts, known->definition), gap_of(index)});
    if (!change) return note_definition(index, *known);
    Filling defined = filling();
    defined.holes["id"] = std::to_string(is_new ? ++next_index_ : known->id);
    defined.holes["alias"] = quoted_text(index.alias);
    defined.holes["view"] = quoted_text(index.view);
    defined.holes["id_type"] = quoted_text(index.id_type);
    defined.holes["routed"] = index.routed ? "1" : "0";
    defined.holes["fields"] = quoted_text(names_text(index.fields));
    defined.holes["json_fields"] = quoted_text(names_text(index.json_fields));
    defined.holes["definition"] = quoted_text(to_text(index.parts));
    defined.holes["configured"] = quoted_text(index.configured);
    defined.blocks["added"] = when(is_new);
    defined.blocks["changed"] = when(!is_new);
    for (const auto& [capture, resolver] : tracks) {
      defined.blocks["tracks"].push_back(
          {{{"capture", std::to_string(capture)}, {"resolver", quoted_or_null(resolver)}}, {}});
    }
    defined.blocks["jobs"];
    for (const JobKind kind : change->jobs) defined.blocks["jobs"].push_back(job(kind, change->reason));
    steps_.push_back(change_step(index.alias, *change, statements("define_index", defined)));
  }

  void note_definition(const SqliteIndexDesign& index, const AppliedIndexRow& applied) {
    if (const std::vector<std::string> replaced = noted_parts(applied.definition); !replaced.empty()) {
      const std::string why = reason_to_compare(replaced);
      Filling noted = filling();
      noted.holes["id"] = std::to_string(applied.id);
      noted.holes["definition"] = quoted_text(to_text(index.parts));
      noted.holes["reason"] = quoted_text(why);
      noted.blocks["jobs"];
      if (applied.followed)
        noted.blocks["jobs"] = {job(JobKind::kComparison, why), job(JobKind::kSweep, why)};
      steps_.push_back(comparison_step(index.alias, why, statements("note_definition", noted)));
    }
    if (applied.configured == index.configured) return;
    steps_.push_back(noting_step(index.alias, "update " + schema_ +
                                                  "_index set configured = " + quoted_text(index.configured) +
                                                  " where id = " + std::to_string(applied.id)));
  }

  static Filling job(JobKind kind, const std::string& reason) {
    return {{{"kind", quoted_text(name_of(kind))}, {"total", "null"}, {"reason", quoted_text(reason)}}, {}};
  }

  void drop_indices() {
    for (const auto& each : in_.applied.indices) {
      const auto& alias = each.first;
      const auto& applied = each.second;
      const bool is_wanted = std::any_of(in_.design.indices.begin(), in_.design.indices.end(),
                                         [&](const auto& index) { return index.alias == alias; });
      if (is_wanted) continue;
      Filling dropped = filling();
      dropped.holes["id"] = std::to_string(applied.id);
      steps_.push_back(drop_step(alias, statements("drop_index", dropped)));
    }
  }

  const SqlitePlanInput& in_;
  const std::string& schema_;
  SqliteReads reads_;
  int next_capture_;
  int next_index_;
  std::vector<PlanStep> steps_;
  bool is_new_ = false;  // the pipeline is
  int pipeline_ = 0;
  std::vector<SqliteTableCapture> captures_;  // the design's, with ids
  std::map<int, SqliteTableCapture> known_;   // by id, captures as they were applied before
  std::set<int> gaps_;                        // those of them that may have missed changes
};

// The names of Lockstep's own tables, as its migrations make them.
std::vector<std::string> own_tables(SqliteConnection& connection) {
  std::set<std::string> known = {connection.schema() + "_migration"};
  for (const EmbeddedFile& migration : sqlite_migrations()) {
    const std::string text = connection.sql(migration.content);
    constexpr std::string_view kCreate = "create table ";
    for (std::size_t at = text.find(kCreate); at != std::string::npos; at = text.find(kCreate, at + 1)) {
      const std::size_t begin = at + kCreate.size();
      known.insert(text.substr(begin, text.find(' ', begin) - begin));
    }
  }
  std::vector<std::string> there;
  for (const std::string& name : known) {
    if (find_table(connection, name)) there.push_back(name);
  }
  return there;
}

}  // namespace

std::vector<PlanStep> make_plan(const SqlitePlanInput& input) {
  return Planner(input).plan();
}

PlanStep create_trigger(const SqliteTrigger& trigger) {
  return {Action::kCreate, "trigger " + trigger.name + " on " + trigger.table, "", trigger.sql};
}

PlanStep drop_trigger(const std::string& name, const SqliteAppliedTrigger& trigger) {
  return {Action::kDrop, "trigger " + name + " on " + trigger.table, "", "drop trigger " + name};
}

std::vector<PlanStep> make_removal_plan(SqliteConnection& connection, const std::string& pipeline,
                                        const SqliteApplied& applied) {
  std::vector<PlanStep> steps;
  if (!applied.pipeline) return steps;
  const std::string& schema = connection.schema();
  for (const SqliteTableCapture& capture : applied.captures) {
    const std::string prefix = trigger_prefix(schema, capture.id);
    for (const auto& [name, trigger] : applied.triggers) {
      if (name.starts_with(prefix)) steps.push_back(drop_trigger(name, trigger));
    }
  }
  if (applied.pipelines == 1) {
    std::string drops;
    for (const std::string& table : own_tables(connection))
      drops += (drops.empty() ? "" : ";\n") + std::string("drop table ") + table;
    steps.push_back(
        {Action::kDrop, "lockstep's tables", "with the checkpoint, the indices and the dead letters", drops});
    return steps;
  }
  Filling removed;
  removed.holes = {{"schema", schema}, {"pipeline", std::to_string(*applied.pipeline)}};
  for (const auto& [alias, index] : applied.indices)
    removed.blocks["indices"].push_back({{{"id", std::to_string(index.id)}}, {}});
  removed.blocks["indices"];  // none is fine, too
  steps.push_back({Action::kDrop, "pipeline " + pipeline, "with its checkpoint, indices and dead letters",
                   statements("drop_pipeline", removed)});
  return steps;
}

}  // namespace lockstep
