// The number of a view's rows that PostgreSQL's planner expects: cheap for a view of any size.
#pragma once

#include <cstdint>
#include <pqxx/pqxx>
#include <string>

namespace lockstep {

/// The statement that asks for it; `view` is quoted.
std::string ask_planner_for_rows(const std::string& view);

/// Its answer.
std::int64_t rows_planned(const pqxx::result& answer);

}  // namespace lockstep
