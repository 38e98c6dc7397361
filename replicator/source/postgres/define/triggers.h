// The code of the triggers that capture changes: text, made from the captures.
//
// A tracked table gets four statement-level triggers. So does each of its partitions and inheriting tables,
// because the triggers of a parent fire only for statements that name the parent. Each trigger calls a
// function of static PL/pgSQL, which sees the changed rows as transition tables and writes the captured
// values, old and new, into the outbox. sql/capture.sql has their text; the result is in
// tests/unit/source/postgres/define/golden/blog.sql.
//
// T1. An update is left out only if no counted column, no captured value and no part of the key has changed,
//     byte for byte: 1.0 and 1.00, or 'a' and 'A' as citext, are equal and look different in a document.
//
// T2. A statement that touches no row writes nothing.
//
// T3. Old and new rows are joined only by hash or merge. PL/pgSQL may keep a plan made for one row, and with
//     a million rows that must not turn quadratic. A full join has no other way.
//
// T4. Neither the settings of the writer's session nor the rights of its role matter. The functions are
//     security definer and qualify names, types and operators. They also have a fixed search_path, unless all
//     they run is the server's own: no expression, no type of an extension, no limit of the outbox. The
//     settings on which values depend are fixed as in Lockstep's own session (session/value_settings.h).
//
// T5. No change of a table, a type or a function makes a writer fail. Code that looks at rows is in a block
//     that may fail; then the values of all changed rows are noted, or the whole table. The inserts are
//     outside of that block, so it takes no transaction id.
//
// T6. No trigger fires when a part of a table (a partition, an inheriting table) is attached, detached or
//     dropped. A function of each table, `capture_parts`, compares its parts with those that it had
//     before. The leader calls it within seconds, and `apply` does. It runs with the rights of the role that
//     ran `apply`, so it touches no part that belongs to another role than the table.
//
// Most statements change one row. They take a path without joins: a loop over the pairs of old and new rows
// that ends at the second one, and the insert. tests/bench/trigger_instructions.py compares its instructions
// with the least that is possible. Tried and no better: deciding inside the insert whether there is one row
// (the insert would be in the block of T5), `exists (… offset 1)` instead of the loop (8,000 instructions of
// 160,000 more), a row trigger (a third less for one row, five times as much for a million), comparing by
// operators instead of images (7,000 less, and wrong for equal values that look different). A look into the
// catalog before each statement, instead of the block of T5, would know nothing of functions and of values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct CaptureCode {
  int id = 0;
  bool is_key = false;     ///< the value is the table's primary key
  std::string expression;  ///< over one row, which goes by the table's own name
  /// The columns, quoted: an update counts if one of them changes. None: every update counts.
  std::optional<std::vector<std::string>> counted;
  bool whole_row = false;      ///< with `counted`: of any column, also of one that is added later
  bool is_expression = false;  ///< more than columns, so it may fail on a row
};

struct KeyColumn {
  std::string name;      ///< quoted
  std::string equality;  ///< "=" or "operator(public.=)"
  bool exact = false;    ///< equal values are the same, byte for byte
};

struct TriggerCode {
  std::string schema;          ///< Lockstep's, quoted
  std::string alias;           ///< the table's own name, quoted
  std::vector<KeyColumn> key;  ///< the primary key; empty: there is none
  std::vector<CaptureCode> captures;
  bool bounded = false;  ///< they write nothing while the outbox is full (0003_outbox_limit.sql)
};

enum class TriggerEvent { kInsert, kUpdate, kDelete, kTruncate };
inline constexpr TriggerEvent kTriggerEvents[] = {TriggerEvent::kInsert, TriggerEvent::kUpdate,
                                                  TriggerEvent::kDelete, TriggerEvent::kTruncate};

/// "insert", "update", "delete", "truncate"
std::string_view event_name(TriggerEvent event);

/// pg_trigger.tgtype of a statement-level AFTER trigger.
int event_type(TriggerEvent event);

/// The body of the trigger function.
std::string trigger_body(const TriggerCode& code, TriggerEvent event);

/// The body of the function that reports why the triggers of `relation` take the fallback of T5.
std::string check_body(const TriggerCode& code, const std::string& relation);

/// The body of the function of T6. `schema_name` is Lockstep's, not quoted.
std::string parts_body(const TriggerCode& code, std::string_view schema_name, int pipeline,
                       const std::string& relation);

/// The name of the trigger, at most PostgreSQL's 63 bytes, which needs no quotes. It is the same on every
/// table.
std::string trigger_name(std::string_view schema, int pipeline, TriggerEvent event);

/// The name of the function that the triggers of a table call, which needs no quotes. `relation` is the
/// table's quoted name.
std::string trigger_function_name(int pipeline, std::string_view relation, TriggerEvent event);

/// The name of the function of check_body(), likewise.
std::string check_function_name(int pipeline, std::string_view relation);

/// The name of the function of parts_body(), likewise.
std::string parts_function_name(int pipeline, std::string_view relation);

/// The beginning of the names of a pipeline's trigger functions.
std::string trigger_function_prefix(int pipeline);

/// Makes a trigger on one table. The names are quoted.
std::string create_trigger_sql(std::string_view trigger, std::string_view relation, std::string_view function,
                               TriggerEvent event);

/// Makes it fire in every session. Rows that come through a session in the replica role are in
/// the documents too.
std::string create_always_trigger_sql(std::string_view trigger, std::string_view relation,
                                      std::string_view function, TriggerEvent event);

/// A text as a literal, where standard_conforming_strings is on.
std::string quoted_literal(std::string_view text);

/// A text as a dollar-quoted literal.
std::string dollar_quoted(std::string_view text);

}  // namespace lockstep
