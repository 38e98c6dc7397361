#include <utility>

#include "replicator/cli/verb.h"

namespace lockstep {
namespace {

using Make = std::unique_ptr<Verb> (*)();

VerbGroup group(const char* name, std::initializer_list<Make> makers) {
  VerbGroup group{name, {}};
  for (const Make make : makers) group.verbs.push_back(make());
  return group;
}

}  // namespace

std::vector<VerbGroup> verb_groups() {
  std::vector<VerbGroup> groups;
  groups.push_back(group("Start", {make_init_verb, make_up_verb, make_check_verb, make_plan_verb,
                                   make_apply_verb, make_run_verb, make_print_config_verb}));
  groups.push_back(group("Change", {make_reindex_verb, make_adopt_verb, make_remove_verb}));
  groups.push_back(group("Watch", {make_status_verb, make_health_verb, make_wait_verb}));
  groups.push_back(group("Repair", {make_verify_verb, make_dead_letters_verb}));
  groups.push_back(group("Locks", {make_lock_verb, make_locks_verb, make_tree_verb}));
  return groups;
}

std::vector<std::unique_ptr<Verb>> all_verbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  for (VerbGroup& group : verb_groups()) {
    for (std::unique_ptr<Verb>& verb : group.verbs) verbs.push_back(std::move(verb));
  }
  return verbs;
}

}  // namespace lockstep
