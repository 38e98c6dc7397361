// The code of the triggers that capture changes: pure text, made from what is to be captured.
//
// A tracked table gets four statement-level triggers, and so does each of its partitions and inheriting
// tables: those of a parent fire only for statements that name the parent. Each calls a function of static
// PL/pgSQL that sees the changed rows as transition tables and writes the captured values, old and new, into
// the outbox.
//
// T1. An update is left out only if no counted column, no captured value and no part of the key has changed,
// byte for
//     byte: 1.0 and 1.00, or 'a' and 'A' as citext, are equal and look different in a document.
// T2. Nothing is written when no row was touched.
// T3. Old and new rows are joined only by hash or merge: a plan made for one row and kept by PL/pgSQL must
// not turn
//     quadratic for a million. A full join has no other way.
// T4. What the writer's session has set, and which rights its role has, does not matter. The functions are
//     security definer with a fixed search_path; names, types and operators in them are qualified besides.
//
// The usual statement changes one row, and gets a path without joins: one query that looks at the row and
// whether there is another, and the insert. tests/benchmarks/trigger_cost compares it with the floors. Tried
// and not better: deciding inside the insert whether there is one row (the same for an update that counts,
// half as much again for one that does not), a loop over a cursor, comparing by operators instead of images
// (4 µs of 66).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct CaptureCode {
  int id = 0;
  bool is_key = false;                              ///< the value is the table's primary key
  std::string expression;                           ///< over one row, which goes by the table's own name
  std::optional<std::vector<std::string>> counted;  ///< quoted columns; none: every update counts
};

struct KeyColumn {
  std::string name;      ///< quoted
  std::string equality;  ///< "=" or "operator(public.=)"
  bool exact = false;    ///< what is equal is the same, byte for byte
};

struct TriggerCode {
  std::string schema;          ///< lockstep's, quoted
  std::string alias;           ///< the table's own name, quoted
  std::vector<KeyColumn> key;  ///< primary key; empty: there is none
  std::vector<CaptureCode> captures;
  bool bounded = false;  ///< nothing is written while the outbox is full (0003_outbox_limit.sql)
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

/// The name of the trigger: the same on every table, short enough for PostgreSQL's 63 bytes. Not quoted.
std::string trigger_name(std::string_view schema, int pipeline, TriggerEvent event);

/// The name of the function behind the triggers of a table; `relation` is the table's quoted name. Not
/// quoted.
std::string trigger_function_name(int pipeline, std::string_view relation, TriggerEvent event);

/// What all names of a pipeline's trigger functions begin with.
std::string trigger_function_prefix(int pipeline);

/// `create trigger` on one table; names are quoted.
std::string create_trigger_sql(std::string_view trigger, std::string_view relation, std::string_view function,
                               TriggerEvent event);

/// A text as a dollar-quoted literal.
std::string dollar_quoted(std::string_view text);

}  // namespace lockstep
