#include "replicator/source/postgres/define/function_code.h"

#include <algorithm>

#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/template.h"

namespace lockstep {
namespace {

constexpr const char* kLockTimeout = "lock_timeout=100ms";

// " set name = 'value'" for each.
std::string set_clauses(const std::vector<std::string>& settings) {
  std::string clauses;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string value = setting.substr(equals + 1);
    // The search_path is a list of names, the others are texts.
    const bool is_list = setting.starts_with("search_path");
    clauses += " set " + setting.substr(0, equals) + " = " + (is_list ? value : quoted_literal(value));
  }
  return clauses;
}

std::string lines_of(const std::vector<std::string>& settings) {
  std::string lines;
  for (const std::string& setting : settings) lines += (lines.empty() ? "" : "\n") + setting;
  return lines;
}

// pg_proc.prosrc: the text between the quotes, which begins on a line of its own.
std::string source_of(const FunctionCode& function) {
  return "\n" + function.body;
}

}  // namespace

FunctionCode trigger_function(int pipeline, std::string_view relation, const TriggerCode& code,
                              const std::vector<std::string>& settings, TriggerEvent event) {
  FunctionCode function;
  function.name = trigger_function_name(pipeline, relation, event);
  function.returns = "trigger";
  function.settings = settings;
  function.body = trigger_body(code, event);
  return function;
}

FunctionCode check_function(int pipeline, const std::string& relation, const TriggerCode& code) {
  FunctionCode function;
  function.name = check_function_name(pipeline, relation);
  function.returns = "text";
  function.settings = {kLockTimeout, kSearchPath};
  function.body = check_body(code, relation);
  return function;
}

FunctionCode parts_function(int pipeline, std::string_view schema_name, const std::string& relation,
                            const TriggerCode& code, const std::vector<std::string>& settings) {
  FunctionCode function;
  function.name = parts_function_name(pipeline, relation);
  function.returns = "setof text";
  function.settings = settings;
  function.settings.emplace_back(kLockTimeout);
  std::sort(function.settings.begin(), function.settings.end());
  function.body = parts_body(code, schema_name, pipeline, relation);
  return function;
}

FunctionCode resolver_function(const std::string& name, const std::string& value_type,
                               const std::string& query) {
  FunctionCode function;
  function.name = name;
  function.parameters = value_type + "[]";
  function.returns = "setof text";
  function.is_stable = true;
  function.settings = {kSearchPath};
  Filling body;
  body.holes["query"] = query;
  function.body = fill_template(postgres_sql("resolver"), body);
  return function;
}

std::string signature(const std::string& schema, const FunctionCode& function) {
  return schema + "." + function.name + "(" + function.parameters + ")";
}

std::string create_function_sql(const std::string& schema, const FunctionCode& function) {
  const std::string called = signature(schema, function);
  return "create or replace function " + called + " returns " + function.returns + " language plpgsql " +
         (function.is_stable ? "stable " : "") + "security definer" + set_clauses(function.settings) +
         " as " + dollar_quoted(source_of(function)) + ";\nrevoke all on function " + called + " from public";
}

bool is_as_made(const AppliedFunction& applied, const FunctionCode& function) {
  return applied.security_definer && applied.body == source_of(function) &&
         applied.settings == lines_of(function.settings);
}

}  // namespace lockstep
