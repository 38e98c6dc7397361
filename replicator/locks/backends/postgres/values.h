// Times and lock names, between the tables of locks and the program.
#pragma once

#include <string>
#include <vector>

#include "replicator/locks/operation.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// SQL for a timestamp as milliseconds since 1970.
inline std::string milliseconds_sql(const std::string& timestamp) {
  return "floor(extract(epoch from " + timestamp + ") * 1000)::bigint";
}

/// A time that milliseconds_sql() selected.
inline ServerTime server_time(const pqxx::field& milliseconds) {
  return ServerTime(std::chrono::milliseconds(milliseconds.as<std::int64_t>()));
}

/// The names of the locks of one mode, as an array literal.
inline std::string names_literal(const LockSet& locks, LockMode mode) {
  std::vector<std::string> names;
  for (const LockRequest& request : locks) {
    if (request.mode == mode) names.push_back(request.name.text());
  }
  return array_literal(names);
}

}  // namespace lockstep
