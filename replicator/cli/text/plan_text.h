// A plan as `plan`, `apply` and `remove` print it. People keep it and compare it with the last one, so its
// form does not change; only a terminal gets colours.
#pragma once

#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/source/definition.h"

namespace lockstep {

enum class Sql { kHidden, kShown };
/// Of the mark and the verb in front of each line.
enum class Colour { kOff, kOn };

/// kOn if standard output is a terminal that shows colours.
Colour colour_of_output();

/// A line for each step, with the reason behind: "+ create trigger …", "~ change …", "- drop …". The SQL
/// stands below, indented.
std::string plan_text(const std::vector<PlanStep>& steps, Sql sql, Colour colour = Colour::kOff);

/// "3 to create, 1 to change, 0 to delete", a line.
std::string count_text(const std::vector<PlanStep>& steps);

/// One step of it.
std::string step_text(const PlanStep& step, Sql sql, Colour colour = Colour::kOff);

/// A reindex's treatment of them.
std::string other_aliases_text(const std::vector<std::string>& aliases);

/// The possible way to change each difference that cannot change in place, a line each, indented; for one
/// that `apply` can change, the differences that `apply` leaves.
std::string ways_text(const IndexPlan& plan);

/// The statements, each with its semicolon, under a line that names the role; empty if there are none.
std::string grants_text(const std::string& role, const std::vector<std::string>& grants);

/// "error: <where>: <message>; <remedy>", "warning: …".
std::string finding_text(const Finding& finding);

}  // namespace lockstep
