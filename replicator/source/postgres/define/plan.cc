#include "replicator/source/postgres/define/plan.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "replicator/quantity.h"
#include "replicator/source/checksum.h"
#include "replicator/source/postgres/define/table_code.h"

namespace lockstep {
namespace {

using Action = PlanStep::Action;

class Planner {
 public:
  explicit Planner(const PlanInput& input)
      : in_(input), transaction_(input.transaction), schema_(input.session.schema()) {}

  DefinitionPlan plan() {
    plan_pipeline();
    plan_limit();
    plan_captures();
    plan_resolvers();
    for (const auto& [name, table] : in_.design.tables) plan_table(table);
    plan_indices();
    drop_triggers();
    drop_leftovers();
    return std::move(plan_);
  }

 private:
  std::string quote(const std::string& text) const { return transaction_.quote(text); }
  // Names that we make need no quotes.
  std::string in_schema(const std::string& text) const { return schema_ + "." + text; }

  std::string text_array(const std::vector<std::string>& items) const {
    std::string list;
    for (const std::string& item : items) list += (list.empty() ? "" : ", ") + quote(item);
    return "array[" + list + "]::text[]";
  }

  void prepare(Action action, std::string object, std::string detail, std::string sql) {
    plan_.preparation.push_back({action, std::move(object), std::move(detail), std::move(sql)});
  }

  // --- pipeline and captures ---

  void plan_pipeline() {
    is_new_ = !in_.applied.pipeline;
    pipeline_ = is_new_ ? in_.next_id("pipeline") : *in_.applied.pipeline;
    if (!is_new_) return;
    // The checkpoint begins with any snapshot from before this transaction's end. A transaction that writes
    // to a tracked table without our triggers holds a lock that `create trigger` waits for, so it has
    // committed before we do, and the backfill, whose snapshots are younger, sees its rows. Whoever writes
    // later fires the triggers; it is still running in this snapshot or has not begun, so its rows in the
    // outbox come after it.
    prepare(Action::kCreate, "pipeline " + in_.pipeline, "its checkpoint begins here",
            in_.session.sql("insert into {schema}.pipeline (id, name) overriding system value values (") +
                std::to_string(pipeline_) + ", " + quote(in_.pipeline) + ");\n" +
                in_.session.sql("insert into {schema}.checkpoint (pipeline, prev) values (") +
                std::to_string(pipeline_) + ", pg_current_snapshot())");
  }

  void plan_limit() {
    const auto& wanted = in_.design.max_outbox_size;
    if (wanted == in_.applied.max_outbox_size) return;
    prepare(is_new_ ? Action::kCreate : Action::kChange, "limit of the outbox",
            wanted ? size_text(*wanted) + ", beyond which changes are given up and everything is compared"
                   : "none",
            in_.session.sql("update {schema}.pipeline set max_outbox_size = ") +
                (wanted ? std::to_string(*wanted) : "null") + " where id = " + std::to_string(pipeline_));
  }

  void plan_captures() {
    for (const CaptureDesign& capture : in_.design.captures) {
      const auto known = std::find_if(
          in_.applied.captures.begin(), in_.applied.captures.end(),
          [&](const AppliedCapture& applied) { return applied.identity() == capture.identity(); });
      if (known != in_.applied.captures.end()) {
        capture_ids_.push_back(known->id);
        continue;
      }
      const int id = in_.next_id("capture");
      capture_ids_.push_back(id);
      std::string detail;
      if (capture.columns) {
        detail = "when one of these columns changes: ";
        for (const std::string& column : *capture.columns) {
          detail += (&column == &capture.columns->front() ? "" : ", ") + column;
        }
      }
      prepare(Action::kCreate, "capture of " + capture.expression + " of " + capture.relation, detail,
              in_.session.sql(
                  "insert into {schema}.capture (id, pipeline, relation, expression, value_type, columns) "
                  "overriding system value values (") +
                  std::to_string(id) + ", " + std::to_string(pipeline_) + ", " + quote(capture.relation) +
                  ", " + quote(capture.expression) + ", " + quote(capture.value_type) + ", " +
                  (capture.columns ? text_array(*capture.columns) : "null") + ")");
    }
  }

  // --- resolvers ---

  void plan_resolvers() {
    for (const IndexDesign& index : in_.design.indices) {
      for (const TrackDesign& track : index.tracks) {
        const std::string resolver = resolver_name(in_.design, track);
        if (resolver.empty() || !wanted_functions_.insert(resolver).second) continue;
        plan_resolver(index, track, resolver);
      }
    }
  }

  void plan_resolver(const IndexDesign& index, const TrackDesign& track, const std::string& resolver) {
    // PL/pgSQL keeps the plan, while a function in SQL makes it at each call, which took longer than the
    // query.
    const std::string body =
        "\n#variable_conflict use_column\nbegin\n  return query\n" + track.resolver_query + ";\nend\n";
    const auto known = in_.applied.functions.find(resolver);
    if (known != in_.applied.functions.end() && known->second.body == body &&
        known->second.security_definer && known->second.settings == kSearchPath) {
      return;
    }
    const std::string function =
        in_schema(resolver) + "(" + in_.design.captures[track.capture].value_type + "[])";
    prepare(known == in_.applied.functions.end() ? Action::kCreate : Action::kChange, "function " + function,
            "from changed rows of " + track.table + " to documents of " + index.alias,
            "create or replace function " + function +
                " returns setof text language plpgsql stable security definer set search_path = pg_catalog, "
                "pg_temp as " +
                dollar_quoted(body) + ";\nrevoke all on function " + function + " from public");
  }

  // --- tables ---

  void plan_table(const TableDesign& table) {
    const TriggerCode code = trigger_code(in_.design, table, schema_, capture_ids_);
    const std::vector<std::string> settings = trigger_settings(in_.design, table);
    ChangedTable changed{table.relation.name, table.relation.columns.front().quoted, {}, false};
    bool is_changed = false;
    for (const std::size_t capture : table.captures) {
      if (in_.design.captures[capture].is_expression) changed.has_expressions = true;
    }
    for (const TriggerEvent event : kTriggerEvents) {
      const std::string function = trigger_function_name(pipeline_, table.relation.name, event);
      changed.functions.push_back(in_schema(function));
      if (plan_trigger_function(table, function, trigger_body(code, event), settings)) is_changed = true;
      plan_trigger(table, table.relation.oid, table.relation.name, event, function);
      for (const TableMember& member : table.members) {
        if (member.kind != 'f') plan_trigger(table, member.oid, member.name, event, function);
      }
    }
    if (is_changed) plan_.changed.push_back(std::move(changed));
  }

  bool plan_trigger_function(const TableDesign& table, const std::string& function, const std::string& text,
                             const std::vector<std::string>& settings) {
    wanted_functions_.insert(function);
    const std::string body = "\n" + text;
    const auto known = in_.applied.functions.find(function);
    const bool is_new = known == in_.applied.functions.end();
    if (!is_new && known->second.body == body && known->second.security_definer &&
        known->second.settings == lines_of(settings)) {
      return false;
    }
    prepare(is_new ? Action::kCreate : Action::kChange, "function " + in_schema(function) + "()",
            "writes changed rows of " + table.relation.name + " into the outbox",
            "create or replace function " + in_schema(function) +
                "() returns trigger language plpgsql security definer" + set_clauses(settings) + " as " +
                dollar_quoted(body) + ";\nrevoke all on function " + in_schema(function) + "() from public");
    return true;
  }

  void plan_trigger(const TableDesign& table, unsigned oid, const std::string& relation, TriggerEvent event,
                    const std::string& function) {
    std::string trigger = trigger_name(in_.schema_name, pipeline_, event);
    // A table can be part of two tracked ones.
    if (!wanted_triggers_.insert({oid, trigger}).second) {
      trigger += "_" + checksum(table.relation.name).substr(8);
      wanted_triggers_.insert({oid, trigger});
    }
    const auto known = std::find_if(
        in_.applied.triggers.begin(), in_.applied.triggers.end(),
        [&](const AppliedTrigger& applied) { return applied.table_oid == oid && applied.name == trigger; });
    const bool is_new = known == in_.applied.triggers.end();
    if (!is_new && known->function == function && known->type == event_type(event) && known->as_made) return;
    // Changes may have been missed for as long as it was not there.
    gaps_.insert(table.relation.name);
    std::string sql;
    if (!is_new) sql = "drop trigger " + trigger + " on " + relation + ";\n";
    // Always: rows that come through a session in the replica role are in the documents too.
    sql += create_trigger_sql(trigger, relation, in_schema(function), event) + ";\nalter table " + relation +
           " enable always trigger " + trigger;
    lock(relation, is_new ? "share row exclusive" : "access exclusive");
    creations_.push_back({is_new ? Action::kCreate : Action::kChange,
                          "trigger " + trigger + " on " + relation,
                          is_new ? "" : "it was changed or disabled", std::move(sql)});
  }

  void lock(const std::string& relation, const std::string& mode) {
    std::string& known = locks_[relation];
    if (known != "access exclusive") known = mode;
  }

  // --- indices ---

  void plan_indices() {
    std::set<std::string> wanted;
    for (const IndexDesign& index : in_.design.indices) {
      wanted.insert(index.alias);
      plan_index(index);
    }
    for (const auto& [alias, applied] : in_.applied.indices) {
      if (wanted.contains(alias)) continue;
      removals_.push_back(
          {Action::kDrop, "index " + alias,
           "no longer in the configuration; the one in Elasticsearch is left as it is",
           in_.session.sql("delete from {schema}.index where id = ") + std::to_string(applied.id)});
    }
  }

  std::set<std::pair<int, std::string>> wanted_tracks(const IndexDesign& index) const {
    std::set<std::pair<int, std::string>> tracks;
    for (const TrackDesign& track : index.tracks) {
      const std::string resolver = resolver_name(in_.design, track);
      tracks.emplace(capture_ids_[track.capture], resolver.empty() ? "" : in_schema(resolver));
    }
    return tracks;
  }

  // Why the documents of an applied index may differ from its view now; empty: they don't.
  std::string reason_to_repeat(const IndexDesign& index, const AppliedIndexRow& applied,
                               const std::set<std::pair<int, std::string>>& tracks) const {
    if (applied.view != index.view) return "another view: " + index.view;
    if (applied.definition != index.definition || applied.id_type != index.id_type ||
        applied.routed != index.routed || applied.fields != index.fields) {
      return "the view or what it reads has changed";
    }
    if (applied.tracks != tracks) return "the tracks have changed";
    for (const TrackDesign& track : index.tracks) {
      if (gaps_.contains(track.table)) return "triggers of " + track.table + " were missing";
    }
    return {};
  }

  static std::string view_text(const IndexDesign& index) {
    return "md5(pg_get_viewdef(" + std::to_string(index.view_oid) + "::oid))";
  }

  void plan_index(const IndexDesign& index) {
    const auto tracks = wanted_tracks(index);
    const auto known = in_.applied.indices.find(index.alias);
    const bool is_new = known == in_.applied.indices.end();
    const std::string reason = is_new ? "new index" : reason_to_repeat(index, known->second, tracks);
    if (reason.empty()) return;
    const std::string id = std::to_string(is_new ? in_.next_id("index") : known->second.id);
    std::string sql;
    if (is_new) {
      sql = in_.session.sql(
                "insert into {schema}.index (id, pipeline, alias, view, id_type, routed, fields, definition, "
                "view_text) "
                "overriding system value values (") +
            id + ", " + std::to_string(pipeline_) + ", " + quote(index.alias) + ", " + quote(index.view) +
            ", " + quote(index.id_type) + ", " + (index.routed ? "true" : "false") + ", " +
            text_array(index.fields) + ", " + quote(index.definition) + ", " + view_text(index) + ");\n";
    } else {
      sql = in_.session.sql("update {schema}.index set view = ") + quote(index.view) +
            ", id_type = " + quote(index.id_type) + ", routed = " + (index.routed ? "true" : "false") +
            ", fields = " + text_array(index.fields) + ", definition = " + quote(index.definition) +
            ", view_text = " + view_text(index) + " where id = " + id + ";\n" +
            in_.session.sql("delete from {schema}.set_aside where index = ") + id + ";\n" +
            in_.session.sql("delete from {schema}.track where index = ") + id + ";\n";
    }
    for (const auto& [capture, resolver] : tracks) {
      sql += in_.session.sql("insert into {schema}.track (index, capture, resolver) values (") + id + ", " +
             std::to_string(capture) + ", " + (resolver.empty() ? "null" : quote(resolver)) + ");\n";
    }
    sql += job_sql(id, "backfill", reason, index.view);
    if (!is_new) sql += ";\n" + job_sql(id, "sweep", reason, {});
    prepare(is_new ? Action::kCreate : Action::kChange, "index " + index.alias,
            is_new
                ? "follows view " + index.view + ", beginning with a backfill"
                : reason + ": all documents are written again, and those that the view no longer has deleted",
            std::move(sql));
  }

  // A job of the kind that has not begun would do the same work.
  std::string job_sql(const std::string& index, const std::string& kind, const std::string& reason,
                      const std::string& view) {
    const std::optional<long> rows = view.empty() ? std::nullopt : estimated_rows(view);
    return in_.session.sql("delete from {schema}.job where index = ") + index + " and kind = " + quote(kind) +
           " and position is null;\n" +
           in_.session.sql("insert into {schema}.job (pipeline, index, kind, total, reason) values (") +
           std::to_string(pipeline_) + ", " + index + ", " + quote(kind) + ", " +
           (rows ? std::to_string(*rows) : "null") + ", " + quote(reason) + ")";
  }

  std::optional<long> estimated_rows(const std::string& view) {
    std::optional<long> rows;
    complaint_about(transaction_, "explain (format json) select from " + view,
                    [&](const pqxx::result& result) {
                      const auto plan = nlohmann::json::parse(result[0][0].c_str());
                      rows = plan.at(0).at("Plan").at("Plan Rows").get<double>();
                    });
    return rows;
  }

  // --- what goes ---

  void drop_triggers() {
    for (const AppliedTrigger& trigger : in_.applied.triggers) {
      if (!trigger.function.starts_with(trigger_function_prefix(pipeline_))) continue;
      if (wanted_triggers_.contains({trigger.table_oid, trigger.name})) continue;
      lock(trigger.table, "access exclusive");
      plan_.triggers.push_back({Action::kDrop, "trigger " + trigger.quoted_name + " on " + trigger.table, "",
                                "drop trigger " + trigger.quoted_name + " on " + trigger.table});
    }
    plan_.triggers.insert(plan_.triggers.end(), std::make_move_iterator(creations_.begin()),
                          std::make_move_iterator(creations_.end()));
    for (const auto& [relation, mode] : locks_) {
      plan_.locks.push_back("lock table only " + relation + " in " + mode + " mode");
    }
  }

  void drop_leftovers() {
    for (PlanStep& step : removals_) plan_.triggers.push_back(std::move(step));
    for (const AppliedCapture& capture : in_.applied.captures) {
      if (std::find(capture_ids_.begin(), capture_ids_.end(), capture.id) != capture_ids_.end()) continue;
      // What the outbox still has of it leads to nothing any more; the indices that followed it are written
      // again.
      plan_.triggers.push_back(
          {Action::kDrop, "capture of " + capture.expression + " of " + capture.relation, "",
           in_.session.sql("delete from {schema}.capture where id = ") + std::to_string(capture.id)});
    }
    for (const auto& [function, applied] : in_.applied.functions) {
      const bool is_ours = function.starts_with(trigger_function_prefix(pipeline_)) ||
                           (function.starts_with("resolve_") &&
                            !in_.applied.resolvers_of_others.contains(in_schema(function)));
      if (!is_ours || wanted_functions_.contains(function)) continue;
      const std::string signature = in_schema(function) + "(" + applied.arguments + ")";
      plan_.triggers.push_back({Action::kDrop, "function " + signature, "", "drop function " + signature});
    }
  }

  const PlanInput& in_;
  pqxx::work& transaction_;
  const std::string& schema_;
  DefinitionPlan plan_;
  bool is_new_ = false;
  int pipeline_ = 0;
  std::vector<int> capture_ids_;  // of the design's captures
  std::set<std::string> wanted_functions_;
  std::set<std::pair<unsigned, std::string>> wanted_triggers_;
  std::set<std::string> gaps_;  // tracked tables of which a trigger was missing or disabled
  std::map<std::string, std::string> locks_;
  std::vector<PlanStep> creations_;
  std::vector<PlanStep> removals_;
};

}  // namespace

DefinitionPlan make_plan(const PlanInput& input) {
  return Planner(input).plan();
}

}  // namespace lockstep
