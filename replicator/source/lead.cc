#include "replicator/source/lead.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

constexpr const char* kCheckpoint = "lockstep's table checkpoint";

IndexId index_of(const std::string& number) {
  IndexId index;
  const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), index.value);
  if (fault == std::errc{} && end == number.data() + number.size()) return index;
  throw unfit_value(kCheckpoint, "partners", "\"" + number + "\"", "the number of an index");
}

}  // namespace

KnownPartners partners_in(const std::string& text) {
  KnownPartners partners;
  try {
    const nlohmann::json stored = nlohmann::json::parse(text);
    if (stored == nlohmann::json::object()) return partners;  // no process has led
    partners.place = stored.at("place");
    partners.quiet = stored.value("quiet", false);
    partners.landed = stored.value("landed", false);
    for (const auto& [index, uuid] : stored.at("targets").items())
      partners.targets[index_of(index)] = uuid.get<std::string>();
  } catch (const nlohmann::json::exception&) {
    throw unfit_value(kCheckpoint, "partners", text, "what a leader notes of both sides");
  }
  return partners;
}

std::string targets_text(const KnownPartners& partners) {
  nlohmann::json targets = nlohmann::json::object();
  for (const auto& [index, uuid] : partners.targets) targets[std::to_string(index.value)] = uuid;
  return targets.dump();
}

}  // namespace lockstep
