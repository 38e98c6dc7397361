#include "replicator/listed.h"

namespace lockstep {

std::string listed(const std::vector<std::string>& names, std::string_view before) {
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ", ";
    list.append(before).append(name);
  }
  return list;
}

std::string listed(const std::set<std::string>& names) {
  return listed(std::vector<std::string>(names.begin(), names.end()));
}

}  // namespace lockstep
