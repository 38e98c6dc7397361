#include "replicator/source/postgres/define/query_plan.h"

#include <cctype>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <regex>

namespace lockstep {
namespace {

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string in_quotation_marks(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

void add_table_reads(const nlohmann::json& plan, std::vector<const nlohmann::json*>& reads) {
  if (plan.contains("Relation Name")) reads.push_back(&plan);
  if (!plan.contains("Plans")) return;
  for (const nlohmann::json& below : plan.at("Plans")) add_table_reads(below, reads);
}

void add_conditions(const nlohmann::json& plan, std::initializer_list<const char*> kinds,
                    std::string& conditions) {
  for (const char* const kind : kinds) conditions += plan.value(kind, "") + "\n";
}

void add_all_conditions(const nlohmann::json& plan, std::string& conditions) {
  add_conditions(plan, {"Filter", "Join Filter", "Hash Cond", "Merge Cond", "Recheck Cond", "Index Cond"},
                 conditions);
  if (!plan.contains("Plans")) return;
  for (const nlohmann::json& below : plan.at("Plans")) add_all_conditions(below, conditions);
}

// Empty: nothing is compared with the values that are asked for.
std::string asked_as_written(const std::string& conditions) {
  const std::size_t end = conditions.find(" = ANY ($1)");
  if (end == std::string::npos) return {};
  std::size_t begin = end;
  for (int open = 0; begin > 0; --begin) {
    const char c = conditions[begin - 1];
    if (c == '(' && open-- == 0) break;
    if (c == ')') ++open;
  }
  return conditions.substr(begin, end - begin);
}

std::string without_alias(std::string expression, const std::string& alias) {
  for (const std::string& qualified : {alias + ".", in_quotation_marks(alias) + "."}) {
    for (std::size_t at = 0; (at = expression.find(qualified, at)) != std::string::npos;) {
      if (at > 0 && is_of_name(expression[at - 1]))
        ++at;
      else
        expression.erase(at, qualified.size());
    }
  }
  return expression;
}

}  // namespace

std::vector<const nlohmann::json*> table_reads(const nlohmann::json& plan) {
  std::vector<const nlohmann::json*> reads;
  add_table_reads(plan, reads);
  return reads;
}

std::string conditions_of(const nlohmann::json& plan) {
  std::string conditions;
  add_all_conditions(plan, conditions);
  return conditions;
}

std::string own_conditions_of(const nlohmann::json& read) {
  std::string conditions;
  add_conditions(read, {"Filter", "Index Cond", "Recheck Cond"}, conditions);
  return conditions;
}

std::string sought_column(const std::string& alias, const std::string& conditions) {
  constexpr const char* kName = "(\"[^\"]+\"|[a-z_][a-z0-9_$]*)";
  std::string name;
  for (const char c : alias) name += is_of_name(c) ? std::string(1, c) : std::string("\\") + c;
  const std::regex left("\\(" + name + "\\." + kName + " = ");
  const std::regex right(" = " + name + "\\." + kName + "\\)");
  std::smatch found;
  if (std::regex_search(conditions, found, left) || std::regex_search(conditions, found, right))
    return found[1];
  return {};
}

std::string asked_expression(const std::string& alias, const std::string& conditions) {
  return without_alias(asked_as_written(conditions), alias);
}

std::string asked_of_join(const std::string& alias, const std::string& conditions) {
  const std::string written = asked_as_written(conditions);
  const std::string asked = without_alias(written, alias);
  return asked != written && names_other_table(asked) ? asked : "";
}

bool names_other_table(const std::string& expression) {
  static const std::regex kLiteral("'[^']*'");
  static const std::regex kQualified(R"([a-z0-9_$"]\.[a-z_"])");
  return std::regex_search(std::regex_replace(expression, kLiteral, ""), kQualified);
}

bool is_name(const std::string& name, const std::string& quoted) {
  return quoted == name || quoted == in_quotation_marks(name);
}

}  // namespace lockstep
