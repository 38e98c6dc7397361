// A plan as `plan`, `apply` and `remove` print it. Stable: people keep it, and compare it with the last one.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/definition.h"

namespace lockstep {

enum class Sql { kHidden, kShown };

/// "+ create trigger …", "~ change …", "- drop …", a line each, with the reason behind; the SQL below it,
/// indented.
std::string plan_text(const std::vector<PlanStep>& steps, Sql sql);

/// One step of it.
std::string step_text(const PlanStep& step, Sql sql);

/// The statements, each with its semicolon, under a line that says whom they are for; empty for none.
std::string grants_text(const std::string& role, const std::vector<std::string>& grants);

/// "error: <place>: <message>; <remedy>", "warning: …".
std::string finding_text(const Finding& finding);

}  // namespace lockstep
