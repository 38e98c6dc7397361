#include "replicator/unknown_value.h"

#include <utility>

#include "replicator/warnings.h"

namespace lockstep {
namespace {

Error stored_wrongly(const std::string& what, std::string cause) {
  return Error({"reading " + what, std::move(cause),
                "it was written by something else, or by a newer lockstep: use that version, or else correct "
                "it or delete it"});
}

}  // namespace

Error unknown_value(const std::string& what, std::string_view field, std::string_view value) {
  if (value.empty()) return missing_value(what, field);
  return stored_wrongly(what, warning("unknown_value", {std::string(field), std::string(value)}));
}

Error missing_value(const std::string& what, std::string_view field) {
  return stored_wrongly(what, "it has no " + std::string(field));
}

Error null_column(std::string_view table, std::string_view column) {
  return Error({"reading lockstep's table " + std::string(table),
                "its column " + std::string(column) + " is null, which no lockstep writes",
                "correct the row, or start over with `lockstep remove` and `lockstep apply`"});
}

Error unfit_value(const std::string& what, std::string_view field, std::string_view value,
                  std::string_view wanted) {
  return stored_wrongly(
      what, warning("unfit_value", {std::string(field), std::string(value), std::string(wanted)}));
}

}  // namespace lockstep
