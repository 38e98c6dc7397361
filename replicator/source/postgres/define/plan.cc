#include "replicator/source/postgres/define/plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "replicator/quantity.h"
#include "replicator/source/postgres/catalog/planner_estimate.h"
#include "replicator/source/postgres/define/code_plan.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/template.h"

namespace lockstep {
namespace {

using Action = PlanStep::Action;

class Planner {
 public:
  explicit Planner(const PlanInput& input) : in_(input), schema_(input.transaction.session().schema()) {}

  DefinitionPlan plan() {
    plan_pipeline();
    plan_limit();
    plan_captures();
    CodePlanner code(in_, pipeline_, capture_ids_, plan_);
    code.plan_resolvers();
    code.plan_tables();
    for (const IndexDesign& index : in_.design.indices) plan_index(index, code);
    code.plan_triggers();
    drop_indices();
    drop_captures();
    code.drop_functions();
    return std::move(plan_);
  }

 private:
  // --- text ---

  std::string quote(std::string_view text) const { return in_.transaction.quote(text); }

  std::string quoted_or_null(const std::string& text) const { return text.empty() ? "null" : quote(text); }

  std::string text_array(const std::vector<std::string>& items) const {
    std::string list;
    for (const std::string& item : items) list += (list.empty() ? "" : ", ") + quote(item);
    return "array[" + list + "]::text[]";
  }

  // The schema and the pipeline, which every statement may need.
  Filling filling() const {
    Filling filling;
    filling.holes["schema"] = schema_;
    filling.holes["pipeline"] = std::to_string(pipeline_);
    return filling;
  }

  // A step's statements are printed one below the other, without the last semicolon.
  static std::string statements(std::string_view name, const Filling& filling) {
    const std::string text = fill_template(postgres_sql(name), filling);
    return text.substr(0, text.find_last_not_of(";\n") + 1);
  }

  void prepare(Action action, std::string object, std::string detail, std::string sql) {
    plan_.preparation.push_back({action, std::move(object), std::move(detail), std::move(sql)});
  }

  void drop(std::string object, std::string detail, std::string sql) {
    plan_.triggers.push_back({Action::kDrop, std::move(object), std::move(detail), std::move(sql)});
  }

  std::string delete_row(const std::string& table, int id) const {
    return "delete from " + schema_ + "." + table + " where id = " + std::to_string(id);
  }

  // --- pipeline and captures ---

  void plan_pipeline() {
    is_new_ = !in_.applied.pipeline;
    pipeline_ = is_new_ ? in_.next_id("pipeline") : *in_.applied.pipeline;
    if (!is_new_) return;
    // The checkpoint may begin with any snapshot from before this transaction ends. A transaction that has
    // written to a tracked table without our triggers holds a lock that `create trigger` waits for. So it
    // commits before we do, and the backfill, whose snapshots are younger, sees its rows. A later writer
    // fires the triggers. In this snapshot it is still running or has not begun, so its rows in the outbox
    // come after the checkpoint.
    Filling added = filling();
    added.holes["name"] = quote(in_.pipeline);
    prepare(Action::kCreate, "pipeline " + in_.pipeline, "its checkpoint begins here",
            statements("add_pipeline", added));
  }

  void plan_limit() {
    const auto& wanted = in_.design.max_outbox_size;
    if (wanted == in_.applied.max_outbox_size) return;
    prepare(is_new_ ? Action::kCreate : Action::kChange, "limit of the outbox",
            wanted ? size_text(*wanted) + ", beyond which changes are dropped and every index is compared"
                   : "none",
            "update " + schema_ + ".pipeline set max_outbox_size = " +
                (wanted ? std::to_string(*wanted) : "null") + " where id = " + std::to_string(pipeline_));
  }

  void plan_captures() {
    for (const CaptureDesign& capture : in_.design.captures) {
      const auto known = std::find_if(
          in_.applied.captures.begin(), in_.applied.captures.end(),
          [&](const AppliedCapture& applied) { return applied.identity() == capture.identity(); });
      if (known != in_.applied.captures.end()) {
        capture_ids_.push_back(known->id);
      } else {
        add_capture(capture);
      }
    }
  }

  void add_capture(const CaptureDesign& capture) {
    capture_ids_.push_back(in_.next_id("capture"));
    std::string detail;
    if (capture.columns) {
      detail = "when one of these columns changes: ";
      for (const std::string& column : *capture.columns) {
        detail += (&column == &capture.columns->front() ? "" : ", ") + column;
      }
    }
    Filling added = filling();
    added.holes["id"] = std::to_string(capture_ids_.back());
    added.holes["relation"] = quote(capture.relation);
    added.holes["expression"] = quote(capture.expression);
    added.holes["value_type"] = quote(capture.value_type);
    added.holes["columns"] = capture.columns ? text_array(*capture.columns) : "null";
    prepare(Action::kCreate, "capture of " + capture.expression + " of " + capture.relation, detail,
            statements("add_capture", added));
  }

  // The outbox's remaining rows of a dropped capture lead nowhere. The indices that followed it are written
  // again, because their tracks have changed.
  void drop_captures() {
    for (const AppliedCapture& capture : in_.applied.captures) {
      if (std::find(capture_ids_.begin(), capture_ids_.end(), capture.id) != capture_ids_.end()) continue;
      drop("capture of " + capture.expression + " of " + capture.relation, "",
           delete_row("capture", capture.id));
    }
  }

  // --- indices ---

  Tracks wanted_tracks(const IndexDesign& index) const {
    Tracks tracks;
    for (const TrackDesign& track : index.tracks) {
      const std::string resolver = resolver_name(in_.design, track);
      tracks.emplace(capture_ids_[track.capture], resolver.empty() ? "" : schema_ + "." + resolver);
    }
    return tracks;
  }

  static std::string gap_of(const IndexDesign& index, const CodePlanner& code) {
    for (const TrackDesign& track : index.tracks) {
      if (code.has_gap(track.table)) return "triggers of " + track.table + " were missing";
    }
    return {};
  }

  void plan_index(const IndexDesign& index, const CodePlanner& code) {
    const auto applied = in_.applied.indices.find(index.alias);
    const AppliedIndexRow* const known = applied == in_.applied.indices.end() ? nullptr : &applied->second;
    const Tracks tracks = wanted_tracks(index);
    const bool is_new = known == nullptr;
    const PartsComparison parts =
        is_new ? PartsComparison{} : index.parts.compared_with(in_.transaction, known->definition);
    const std::optional<IndexChange> change = lockstep::plan_index(
        {index, tracks, known, in_.filled.contains(index.alias), parts.changed, gap_of(index, code)});
    if (!change) return note_definition(index, *known, parts.replaced);
    Filling defined = filling();
    defined.holes["id"] = std::to_string(is_new ? in_.next_id("index") : known->id);
    fill_columns(index, defined);
    defined.blocks["added"] = when(is_new);
    defined.blocks["changed"] = when(!is_new);
    for (const auto& [capture, resolver] : tracks) {
      defined.blocks["tracks"].push_back(
          {{{"capture", std::to_string(capture)}, {"resolver", quoted_or_null(resolver)}}, {}});
    }
    defined.blocks["jobs"];
    for (const JobKind kind : change->jobs) {
      const auto total = kind == JobKind::kSweep ? std::nullopt : estimated_rows(index.view);
      defined.blocks["jobs"].push_back({{{"kind", quote(name_of(kind))},
                                         {"total", total ? std::to_string(*total) : "null"},
                                         {"reason", quote(change->reason)}},
                                        {}});
    }
    plan_.preparation.push_back(change_step(index.alias, *change, statements("define_index", defined)));
  }

  void note_definition(const IndexDesign& index, const AppliedIndexRow& applied,
                       const std::vector<std::string>& replaced) {
    if (!replaced.empty()) {
      const std::string why = reason_to_compare(replaced);
      plan_.preparation.push_back(comparison_step(
          index.alias, why,
          "select " + schema_ + ".note_definition(" + std::to_string(applied.id) + ", " +
              quote(applied.definition) + ", " + quote(index.parts.text()) + ", " + quote(why) + ")"));
    }
    if (applied.configured == index.configured) return;
    plan_.preparation.push_back(
        noting_step(index.alias, "update " + schema_ + ".index set configured = " + quote(index.configured) +
                                     " where id = " + std::to_string(applied.id)));
  }

  void fill_columns(const IndexDesign& index, Filling& filling) const {
    filling.holes["alias"] = quote(index.alias);
    filling.holes["view"] = quote(index.view);
    filling.holes["id_type"] = quote(index.id_type);
    filling.holes["routed"] = index.routed ? "true" : "false";
    filling.holes["fields"] = text_array(index.fields);
    filling.holes["definition"] = quote(index.parts.text());
    filling.holes["configured"] = quote(index.configured);
    filling.holes["view_oid"] = std::to_string(index.view_oid);
  }

  std::optional<std::int64_t> estimated_rows(const std::string& view) const {
    std::optional<std::int64_t> rows;
    complaint_about(in_.transaction, ask_planner_for_rows(view),
                    [&](const pqxx::result& answer) { rows = rows_planned(answer); });
    return rows;
  }

  void drop_indices() {
    std::set<std::string> wanted;
    for (const IndexDesign& index : in_.design.indices) wanted.insert(index.alias);
    for (const auto& [alias, applied] : in_.applied.indices) {
      if (wanted.contains(alias)) continue;
      plan_.triggers.push_back(drop_step(alias, delete_row("index", applied.id)));
    }
  }

  const PlanInput& in_;
  const std::string& schema_;  // quoted
  DefinitionPlan plan_;
  bool is_new_ = false;  // the pipeline is
  int pipeline_ = 0;
  std::vector<int> capture_ids_;  // of the design's captures
};

}  // namespace

DefinitionPlan make_plan(const PlanInput& input) {
  return Planner(input).plan();
}

}  // namespace lockstep
