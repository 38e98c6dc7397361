#include "replicator/source/postgres/define/triggers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "replicator/source/checksum.h"
#include "replicator/source/outbox/change.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/template.h"

namespace lockstep {
namespace {

std::string joined(const std::vector<std::string>& items, std::string_view separator) {
  std::string list;
  for (const std::string& item : items) list += (list.empty() ? "" : std::string(separator)) + item;
  return list;
}

// "o.v1" is numbered("o.v", 0).
std::string numbered(std::string_view prefix, std::size_t position) {
  return std::string(prefix) + std::to_string(position + 1);
}

// The columns of the rows before and after that the code refers to. They get new names, so that none of the
// table's own can be in the way.
class RowImage {
 public:
  enum class Holds { kValues, kKeyAndCountedColumns };

  RowImage(const TriggerCode& code, Holds holds) : code_(code) {
    if (holds == Holds::kValues) return;
    for (const CaptureCode& capture : code.captures) {
      if (!capture.counted) continue;
      has_key_ = true;
      if (capture.whole_row) has_whole_row_ = true;
      columns_.insert(capture.counted->begin(), capture.counted->end());
    }
  }

  // "(select users.id as k1, users.name as c1, (id)::text as v1 from old_rows as users)"
  std::string query(std::string_view rows) const {
    std::vector<std::string> list;
    if (has_key_) {
      for (std::size_t i = 0; i < code_.key.size(); ++i) {
        list.push_back(code_.alias + "." + code_.key[i].name + " as " + numbered("k", i));
      }
    }
    std::size_t position = 0;
    for (const std::string& column : columns_) {
      list.push_back(code_.alias + "." + column + " as " + numbered("c", position++));
    }
    if (has_whole_row_) list.push_back("row(" + code_.alias + ".*) as w");
    // The line break keeps a comment at an expression's end from swallowing the bracket.
    for (std::size_t i = 0; i < code_.captures.size(); ++i) {
      list.push_back("(" + code_.captures[i].expression +
                     "\n)::pg_catalog.text collate pg_catalog.\"C\" as " + numbered("v", i));
    }
    return "(select " + joined(list, ", ") + " from " + std::string(rows) + " as " + code_.alias + ")";
  }

  // T1: the condition over o and n under which an update counts for a capture.
  std::string counts(std::size_t capture) const {
    if (!code_.captures[capture].counted) return "true";
    const std::string parts =
        "pg_catalog.record_image_ne(" + compared("o", capture) + ", " + compared("n", capture) + ")";
    if (!code_.captures[capture].whole_row) return parts;
    // A record that is null, because its side of the join is, makes the function null.
    return "(coalesce(pg_catalog.record_image_ne(o.w, n.w), true) or " + parts + ")";
  }

  // Whether the query has the columns of the primary key, k1, k2, …
  bool has_key() const { return has_key_; }

  // The condition over o and n under which both have the same primary key.
  std::string same_key() const {
    std::vector<std::string> conditions;
    for (std::size_t i = 0; i < code_.key.size(); ++i) {
      const std::string& equality = code_.key[i].equality;
      conditions.push_back(numbered("o.k", i) + " " +
                           (equality == "=" ? "operator(pg_catalog.=)" : equality) + " " +
                           numbered("n.k", i));
    }
    return conditions.empty() ? "true" : joined(conditions, " and ");
  }

  // The array of values to note when o became n, for each capture: null if the update does not count for it.
  std::vector<std::string> keys_of_update() const {
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < code_.captures.size(); ++i) {
      const std::string before = numbered("o.v", i);
      const std::string after = numbered("n.v", i);
      // A key is not null; a row that came nowhere is.
      const std::string differ = code_.captures[i].is_key
                                     ? "else "
                                     : "when coalesce(" + before + ", " + after + ") is not null then ";
      keys.push_back("case when " + counts(i) + " then case when " + before + " operator(pg_catalog.=) " +
                     after + " then array[" + after + "] " + differ + "pg_catalog.array_remove(array[" +
                     before + ", " + after + "], null) end end");
    }
    return keys;
  }

 private:
  // "row(o.k1, o.c2, o.v1)"
  std::string compared(const std::string& side, std::size_t capture) const {
    std::vector<std::string> list;
    for (std::size_t i = 0; i < code_.key.size(); ++i) list.push_back(numbered(side + ".k", i));
    for (const std::string& column : *code_.captures[capture].counted) {
      const auto position = std::distance(columns_.begin(), columns_.find(column));
      list.push_back(numbered(side + ".c", static_cast<std::size_t>(position)));
    }
    // A key's value is made of nothing but the key.
    if (!code_.captures[capture].is_key) list.push_back(numbered(side + ".v", capture));
    return "row(" + joined(list, ", ") + ")";
  }

  const TriggerCode& code_;
  std::set<std::string> columns_;
  bool has_key_ = false;
  bool has_whole_row_ = false;
};

// In which row of the outbox the value d.key goes, of those of a statement: in each are about a thousand, and
// long ones count as several, since it is read as a whole.
std::string row_of_value() {
  return "(pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) " +
         std::to_string(kBytesOfOneValue) +
         ")) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000";
}

// The common filling of every body's template.
Filling filling_of(const TriggerCode& code) {
  Filling filling;
  filling.holes["schema"] = code.schema;
  filling.holes["part"] = row_of_value();
  filling.blocks["bounded"] = when(code.bounded);
  return filling;
}

Filling filling_of(const CaptureCode& capture, std::size_t position) {
  Filling filling;
  filling.holes["n"] = std::to_string(position + 1);
  filling.holes["id"] = std::to_string(capture.id);
  // Each row has another key.
  filling.holes["select"] = capture.is_key ? "select" : "select distinct";
  return filling;
}

// A query of the values of one capture in the rows of transition tables. It names the columns of that capture
// and nothing else.
std::string keys_in(const TriggerCode& code, std::size_t capture,
                    const std::vector<std::string_view>& tables) {
  TriggerCode alone = code;
  alone.captures = {code.captures[capture]};
  const RowImage image(alone, RowImage::Holds::kValues);
  std::vector<std::string> queries;
  for (const std::string_view rows : tables)
    queries.push_back("select r.v1 as key from " + image.query(rows) + " as r");
  return queries.size() == 1 ? "select distinct" + queries[0].substr(6) : joined(queries, " union ");
}

// T5. The first of `tables` has a row for each row of the statement.
std::string fallback(const TriggerCode& code, const std::vector<std::string_view>& tables) {
  Filling fallback = filling_of(code);
  fallback.holes["rows"] = tables.front();
  for (std::size_t i = 0; i < code.captures.size(); ++i) {
    Filling capture = filling_of(code.captures[i], i);
    capture.holes["keys"] = keys_in(code, i, tables);
    fallback.blocks["captures"].push_back(std::move(capture));
  }
  const std::string text = fill_template(postgres_sql("capture_fallback"), fallback);
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

// Takes the values of all expressions, which may fail for some rows.
std::vector<Filling> tried(const TriggerCode& code) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < code.captures.size(); ++i) {
    if (code.captures[i].is_expression) values.push_back(numbered("r.v", i));
  }
  if (values.empty()) return {};
  return {{{{"none", "pg_catalog.num_nulls(" + joined(values, ", ") + ") operator(pg_catalog.<) 0"}}, {}}};
}

std::string rows_body(const TriggerCode& code, std::string_view rows) {
  Filling body = filling_of(code);
  body.holes["fallback"] = fallback(code, {rows});
  body.blocks["tried"] = tried(code);
  std::vector<std::string> columns;
  std::vector<std::string> variables;
  for (std::size_t i = 0; i < code.captures.size(); ++i) {
    columns.push_back(numbered("r.v", i));
    variables.push_back(numbered("value", i));
    body.blocks["captures"].push_back(filling_of(code.captures[i], i));
  }
  body.holes["rows"] = rows;
  body.holes["values"] = RowImage(code, RowImage::Holds::kValues).query(rows);
  body.holes["columns"] = joined(columns, ", ");
  body.holes["variables"] = joined(variables, ", ");
  return fill_template(postgres_sql("capture_rows"), body);
}

std::string update_body(const TriggerCode& code) {
  const RowImage image(code, RowImage::Holds::kKeyAndCountedColumns);
  const bool key_is_exact =
      std::all_of(code.key.begin(), code.key.end(), [](const KeyColumn& key) { return key.exact; });
  Filling body = filling_of(code);
  body.holes["fallback"] = fallback(code, {"old_rows", "new_rows"});
  body.blocks["tried"] = tried(code);
  std::vector<std::string> variables;
  for (std::size_t i = 0; i < code.captures.size(); ++i) {
    const CaptureCode& captured = code.captures[i];
    variables.push_back(numbered("keys", i));
    const bool in_pairs = captured.counted && !code.key.empty();
    const bool same_value = captured.is_key && key_is_exact;
    Filling capture = filling_of(captured, i);
    capture.holes["counts"] = image.counts(i);
    capture.blocks["same_value"] = when(in_pairs && same_value);
    capture.blocks["each_value"] = when(in_pairs && !same_value);
    capture.blocks["any_value"] = when(!in_pairs);
    body.blocks["captures"].push_back(std::move(capture));
  }
  body.holes["old"] = image.query("old_rows");
  body.holes["new"] = image.query("new_rows");
  body.holes["same_key"] = image.same_key();
  body.holes["columns"] = joined(image.keys_of_update(), ",\n           ");
  body.holes["variables"] = joined(variables, ", ");
  return fill_template(postgres_sql("capture_update"), body);
}

std::string truncate_body(const TriggerCode& code) {
  std::vector<std::string> values;
  for (const CaptureCode& capture : code.captures) {
    values.push_back("(" + std::to_string(capture.id) + ", null)");
  }
  Filling body = filling_of(code);
  body.holes["values"] = joined(values, ", ");
  return fill_template(postgres_sql("capture_truncate"), body);
}

// The letters of a name that need no quotes, for people to read; not unique.
std::string plain(std::string_view text, std::size_t limit) {
  std::string plain;
  for (const char c : text) {
    if (plain.size() == limit) break;
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_') plain += c;
  }
  return plain;
}

std::string short_checksum(std::string_view text) {
  return checksum(text).substr(8);
}

std::string function_name(int pipeline, std::string_view relation, std::string_view purpose) {
  const std::string_view table = relation.substr(relation.rfind('.') + 1);
  return trigger_function_prefix(pipeline) + plain(table, 24) + "_" + short_checksum(relation) + "_" +
         std::string(purpose);
}

// A text for format(), which puts the name of a part in each place of kPart.
constexpr std::string_view kPart = "{part}";

std::string format_text(const std::string& text) {
  std::string format;
  for (std::size_t at = 0; at < text.size();) {
    if (std::string_view(text).substr(at).starts_with(kPart)) {
      format += "%1$s";
      at += kPart.size();
    } else {
      format += text[at] == '%' ? "%%" : std::string(1, text[at]);
      ++at;
    }
  }
  return dollar_quoted(format);
}

}  // namespace

std::string quoted_literal(std::string_view text) {
  std::string literal = "'";
  for (const char c : text) literal += c == '\'' ? std::string("''") : std::string(1, c);
  return literal + "'";
}

std::string_view event_name(TriggerEvent event) {
  switch (event) {
    case TriggerEvent::kInsert:
      return "insert";
    case TriggerEvent::kUpdate:
      return "update";
    case TriggerEvent::kDelete:
      return "delete";
    case TriggerEvent::kTruncate:
      break;
  }
  return "truncate";
}

int event_type(TriggerEvent event) {
  switch (event) {
    case TriggerEvent::kInsert:
      return 4;
    case TriggerEvent::kUpdate:
      return 16;
    case TriggerEvent::kDelete:
      return 8;
    case TriggerEvent::kTruncate:
      break;
  }
  return 32;
}

std::string trigger_body(const TriggerCode& code, TriggerEvent event) {
  switch (event) {
    case TriggerEvent::kInsert:
      return rows_body(code, "new_rows");
    case TriggerEvent::kUpdate:
      return update_body(code);
    case TriggerEvent::kDelete:
      return rows_body(code, "old_rows");
    case TriggerEvent::kTruncate:
      break;
  }
  return truncate_body(code);
}

std::string check_body(const TriggerCode& code, const std::string& relation) {
  const RowImage image(code, RowImage::Holds::kKeyAndCountedColumns);
  Filling body;
  body.holes["relation"] = quoted_literal(relation);
  body.holes["old"] = image.query("only " + relation);
  body.holes["new"] = body.holes["old"];
  body.holes["same_key"] = image.has_key() ? image.same_key() : "true";
  body.holes["columns"] = joined(image.keys_of_update(), ",\n          ");
  return fill_template(postgres_sql("capture_check"), body);
}

std::string parts_body(const TriggerCode& code, std::string_view schema_name, int pipeline,
                       const std::string& relation) {
  Filling body = filling_of(code);
  body.holes["pipeline"] = std::to_string(pipeline);
  body.holes["relation"] = quoted_literal(relation);
  const std::string part(kPart);
  for (const TriggerEvent event : kTriggerEvents) {
    const std::string trigger = trigger_name(schema_name, pipeline, event);
    const std::string function = code.schema + "." + trigger_function_name(pipeline, relation, event);
    body.blocks["events"].push_back(
        {{{"create", format_text(create_always_trigger_sql(trigger, part, function, event))},
          {"drop", format_text("drop trigger if exists " + trigger + " on " + part)},
          {"function", quoted_literal(function)}},
         {}});
  }
  std::string ids;
  const std::string rows = "only " + part;
  for (std::size_t i = 0; i < code.captures.size(); ++i) {
    const std::string id = std::to_string(code.captures[i].id);
    ids += (ids.empty() ? "" : ", ") + id;
    body.blocks["captures"].push_back({{{"id", id}, {"keys", format_text(keys_in(code, i, {rows}))}}, {}});
  }
  body.holes["ids"] = ids;
  return fill_template(postgres_sql("capture_parts"), body);
}

std::string trigger_name(std::string_view schema, int pipeline, TriggerEvent event) {
  const bool is_plain = plain(schema, 40) == schema;
  return (is_plain ? std::string(schema) : "lockstep_" + short_checksum(schema)) + "_" +
         std::to_string(pipeline) + "_" + std::string(event_name(event));
}

std::string trigger_function_prefix(int pipeline) {
  return "capture_" + std::to_string(pipeline) + "_";
}

std::string trigger_function_name(int pipeline, std::string_view relation, TriggerEvent event) {
  return function_name(pipeline, relation, event_name(event));
}

std::string check_function_name(int pipeline, std::string_view relation) {
  return function_name(pipeline, relation, "check");
}

std::string parts_function_name(int pipeline, std::string_view relation) {
  return function_name(pipeline, relation, "parts");
}

std::string create_trigger_sql(std::string_view trigger, std::string_view relation, std::string_view function,
                               TriggerEvent event) {
  std::string tables;
  if (event == TriggerEvent::kUpdate || event == TriggerEvent::kDelete) tables += " old table as old_rows";
  if (event == TriggerEvent::kUpdate || event == TriggerEvent::kInsert) tables += " new table as new_rows";
  if (!tables.empty()) tables = " referencing" + tables;
  return "create trigger " + std::string(trigger) + " after " + std::string(event_name(event)) + " on " +
         std::string(relation) + tables + " for each statement execute function " + std::string(function) +
         "()";
}

std::string create_always_trigger_sql(std::string_view trigger, std::string_view relation,
                                      std::string_view function, TriggerEvent event) {
  return create_trigger_sql(trigger, relation, function, event) + ";\nalter table " + std::string(relation) +
         " enable always trigger " + std::string(trigger);
}

std::string dollar_quoted(std::string_view text) {
  std::string tag = "$lockstep$";
  for (int i = 1; text.find(tag) != std::string_view::npos; ++i) tag = "$lockstep" + std::to_string(i) + "$";
  return tag + std::string(text) + tag;
}

}  // namespace lockstep
