#include "replicator/elasticsearch/admin/deletion_memory.h"

#include <chrono>

#include "replicator/quantity.h"

namespace lockstep {
namespace {

// The default of index.gc_deletes.
constexpr std::chrono::seconds kRemembered{60};

}  // namespace

std::optional<EarlyForgetting> forgets_deletions_early(const nlohmann::json& settings) {
  const auto found = settings.find("index.gc_deletes");
  if (found == settings.end() || found->is_null()) return std::nullopt;
  const std::string time = found->is_string() ? found->get<std::string>() : found->dump();
  if (const auto remembered = parse_duration(time); remembered && *remembered >= kRemembered)
    return std::nullopt;
  return EarlyForgetting{
      "index.gc_deletes " + time + ": a write that arrives late may bring a deleted document back",
      "set it to 60s or more, or to null"};
}

}  // namespace lockstep
