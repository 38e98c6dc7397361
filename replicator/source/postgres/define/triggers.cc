#include "replicator/source/postgres/define/triggers.h"

#include <algorithm>
#include <set>

#include "replicator/source/checksum.h"

namespace lockstep {
namespace {

// Keys of one row of the outbox.
constexpr const char* kKeysPerRow = "1000";

// A column named like one of our variables, or tg_op, is the column.
constexpr const char* kHead = "#variable_conflict use_column\n";

// T4: names are written so that no search_path can lead elsewhere.
constexpr const char* kText = "pg_catalog.text";
constexpr const char* kEquals = " operator(pg_catalog.=) ";

std::string numbered(const char* prefix, std::size_t number) {
  return prefix + std::to_string(number + 1);
}

// Columns of old or new rows that the code refers to: renamed, so that no name of the table's can be in the
// way.
class Side {
 public:
  Side(const TriggerCode& code, bool with_columns) : code_(code) {
    if (!with_columns) return;
    for (const CaptureCode& capture : code.captures) {
      if (capture.counted) columns_.insert(capture.counted->begin(), capture.counted->end());
    }
  }

  // "(select id as k1, name as c1, (id)::text as v1 from old_rows as users)"
  std::string derived(const char* rows) const {
    std::string list;
    const auto add = [&](const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
    if (!columns_.empty() || needs_key_) {
      for (std::size_t i = 0; i < code_.key.size(); ++i) {
        add(code_.alias + "." + code_.key[i].name + " as " + numbered("k", i));
      }
    }
    std::size_t number = 0;
    for (const std::string& column : columns_)
      add(code_.alias + "." + column + " as " + numbered("c", number++));
    for (std::size_t i = 0; i < code_.captures.size(); ++i) {
      add("(" + code_.captures[i].expression + "\n)::" + kText + " collate pg_catalog.\"C\" as " +
          numbered("v", i));
    }
    return "(select " + list + " from " + rows + " as " + code_.alias + ")";
  }

  // "row(o.k1, o.c2, o.v1)": what must differ for a capture's update to count.
  std::string image(const char* side, std::size_t capture) const {
    std::string list;
    const auto add = [&](const std::string& item) { list += (list.empty() ? "" : ", ") + (side + item); };
    for (std::size_t i = 0; i < code_.key.size(); ++i) add(numbered(".k", i));
    for (const std::string& column : *code_.captures[capture].counted) {
      add(numbered(".c", static_cast<std::size_t>(std::distance(columns_.begin(), columns_.find(column)))));
    }
    // A key's value is made of nothing but the key.
    if (!code_.captures[capture].is_key) add(numbered(".v", capture));
    return "row(" + list + ")";
  }

  // T1
  std::string counts(std::size_t capture) const {
    if (!code_.captures[capture].counted) return "true";
    return "pg_catalog.record_image_ne(" + image("o", capture) + ", " + image("n", capture) + ")";
  }

  std::string same_key() const {
    std::string condition;
    for (std::size_t i = 0; i < code_.key.size(); ++i) {
      const std::string& equality = code_.key[i].equality;
      condition += (condition.empty() ? "" : " and ") + numbered("o.k", i) +
                   (equality == "=" ? kEquals : " " + equality + " ") + numbered("n.k", i);
    }
    return condition;
  }

  // Equal keys are the same, byte for byte.
  bool key_is_exact() const {
    return std::all_of(code_.key.begin(), code_.key.end(), [](const KeyColumn& key) { return key.exact; });
  }

  void need_key() { needs_key_ = true; }

 private:
  const TriggerCode& code_;
  std::set<std::string> columns_;
  bool needs_key_ = false;
};

std::string insert_into(const TriggerCode& code) {
  return "insert into " + code.schema + ".outbox (capture, keys)\n";
}

// Nothing but a truncate is written while the outbox is full.
std::string begin_of(const TriggerCode& code) {
  if (!code.bounded) return "begin\n";
  return "begin\n  if " + code.schema + ".outbox_is_full() then\n    return null;\n  end if;\n";
}

// Statements of many rows are looked at every time.
std::string end_of_general(const TriggerCode& code) {
  return code.bounded ? "    perform " + code.schema + ".limit_outbox();\n" : std::string();
}

// The general path's end: the values that `values` selects as "key", so many a row.
std::string insert_arrays(const TriggerCode& code, std::size_t capture, const std::string& values) {
  return "    " + insert_into(code) + "    select " + std::to_string(code.captures[capture].id) +
         ", pg_catalog.array_agg(p.key)\n"
         "    from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) "
         "operator(pg_catalog./) " +
         kKeysPerRow + " as part\n          from (" + values +
         ") as d) as p\n"
         "    group by p.part;\n";
}

// Values that a table has once need not be told apart.
const char* select_distinct(const CaptureCode& capture) {
  return capture.is_key ? "select" : "select distinct";
}

// One value where old and new are the same; nulls are left to the caller.
std::string both_values(const std::string& old_value, const std::string& new_value) {
  return "case when " + old_value + kEquals + new_value + " then array[" + new_value + "] else array[" +
         old_value + ", " + new_value + "] end";
}

// --- insert and delete ---

std::string rows_body(const TriggerCode& code, const char* rows) {
  const Side side(code, false);
  const std::string derived = side.derived(rows);
  std::string declarations = "  several boolean;\n";
  std::string selected = "exists (select from " + std::string(rows) + " offset 1)";
  std::string targets = "several";
  std::string values;
  std::string general;
  for (std::size_t i = 0; i < code.captures.size(); ++i) {
    const std::string value = numbered("value", i);
    declarations += "  " + value + " " + kText + ";\n";
    selected += ", r." + numbered("v", i);
    targets += ", " + value;
    values += "    if " + value + " is not null then\n      " + insert_into(code) + "      values (" +
              std::to_string(code.captures[i].id) + ", array[" + value + "]);\n    end if;\n";
    general +=
        insert_arrays(code, i,
                      select_distinct(code.captures[i]) + (" r." + numbered("v", i)) + " as key from " +
                          derived + " as r where r." + numbered("v", i) + " is not null");
  }
  return kHead + std::string("declare\n") + declarations + begin_of(code) + "  select " + selected +
         "\n  into " + targets + "\n  from " + derived + " as r limit 1;\n" + "  if several then\n" +
         general + end_of_general(code) + "  elsif found then\n" + values +
         "  end if;\n  return null;\nend\n";
}

// --- update ---

std::string pair_values(const TriggerCode& code, std::size_t capture) {
  const std::string old_value = numbered("old", capture);
  const std::string new_value = numbered("new", capture);
  return "    if " + numbered("counts", capture) + " and coalesce(" + old_value + ", " + new_value +
         ") is not null then\n      " + insert_into(code) + "      values (" +
         std::to_string(code.captures[capture].id) + ", pg_catalog.array_remove(" +
         both_values(old_value, new_value) + ", null));\n    end if;\n";
}

// The values of changed rows, where it is known which old row became which new one.
std::string changed_values(const TriggerCode& code, const Side& side, std::size_t capture) {
  const CaptureCode& captured = code.captures[capture];
  const std::string value = numbered("v", capture);
  // T3
  const std::string changed = side.derived("old_rows") + " as o\n                full join " +
                              side.derived("new_rows") + " as n on " + side.same_key() +
                              "\n                where " + side.counts(capture);
  if (captured.is_key && side.key_is_exact()) {
    return "select coalesce(n." + value + ", o." + value + ") as key from " + changed;
  }
  return select_distinct(captured) +
         (" u.key\n          from (select pg_catalog.unnest(" + both_values("o." + value, "n." + value) +
          ") as key\n                from " + changed + ") as u\n          where u.key is not null");
}

std::string update_general(const TriggerCode& code, const Side& side, std::size_t capture) {
  const std::string value = numbered("v", capture);
  const std::string old_rows = side.derived("old_rows");
  const std::string new_rows = side.derived("new_rows");
  std::string values;
  if (code.captures[capture].counted && !code.key.empty()) {
    values = changed_values(code, side, capture);
  } else {
    // Which old row became which new one is not known, or does not matter.
    values = "select r." + value + " as key from " + old_rows + " as r where r." + value +
             " is not null\n          union\n          select r." + value + " from " + new_rows +
             " as r where r." + value + " is not null";
  }
  return insert_arrays(code, capture, values);
}

std::string update_body(const TriggerCode& code) {
  Side side(code, true);
  const bool compares = std::any_of(code.captures.begin(), code.captures.end(),
                                    [](const CaptureCode& capture) { return capture.counted.has_value(); });
  if (compares) side.need_key();
  std::string declarations = "  several boolean;\n";
  std::string selected = "exists (select from old_rows offset 1)";
  std::string targets = "several";
  std::string values;
  std::string general;
  for (std::size_t i = 0; i < code.captures.size(); ++i) {
    declarations += "  " + numbered("old", i) + " " + kText + ";\n  " + numbered("new", i) + " " + kText +
                    ";\n  " + numbered("counts", i) + " boolean;\n";
    selected += ",\n         o." + numbered("v", i) + ", n." + numbered("v", i) + ", " + side.counts(i);
    targets += ", " + numbered("old", i) + ", " + numbered("new", i) + ", " + numbered("counts", i);
    values += pair_values(code, i);
    general += update_general(code, side, i);
  }
  // There may be fewer new rows than old ones: a trigger on the partition into which a row moves can refuse
  // it.
  return kHead + std::string("declare\n") + declarations + begin_of(code) + "  select " + selected +
         "\n  into " + targets + "\n  from " + side.derived("old_rows") + " as o\n  left join " +
         side.derived("new_rows") + " as n on true\n  limit 1;\n" + "  if several then\n" + general +
         end_of_general(code) + "  elsif found then\n" + values + "  end if;\n  return null;\nend\n";
}

std::string truncate_body(const TriggerCode& code) {
  std::string values;
  for (const CaptureCode& capture : code.captures) {
    values += (values.empty() ? "" : ", ") + ("(" + std::to_string(capture.id) + ", null)");
  }
  return "begin\n  " + insert_into(code) + "  values " + values + ";\n  return null;\nend\n";
}

// For names that are to be read, not to be told apart by.
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

}  // namespace

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

std::string trigger_name(std::string_view schema, int pipeline, TriggerEvent event) {
  const bool is_plain = plain(schema, 40) == schema;
  return (is_plain ? std::string(schema) : "lockstep_" + short_checksum(schema)) + "_" +
         std::to_string(pipeline) + "_" + std::string(event_name(event));
}

std::string trigger_function_prefix(int pipeline) {
  return "capture_" + std::to_string(pipeline) + "_";
}

std::string trigger_function_name(int pipeline, std::string_view relation, TriggerEvent event) {
  const std::string_view table = relation.substr(relation.rfind('.') + 1);
  return trigger_function_prefix(pipeline) + plain(table, 24) + "_" + short_checksum(relation) + "_" +
         std::string(event_name(event));
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

std::string dollar_quoted(std::string_view text) {
  std::string tag = "$lockstep$";
  for (int i = 1; text.find(tag) != std::string_view::npos; ++i) tag = "$lockstep" + std::to_string(i) + "$";
  return tag + std::string(text) + tag;
}

}  // namespace lockstep
