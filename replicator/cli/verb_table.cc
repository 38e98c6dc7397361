#include "replicator/cli/verb.h"

namespace lockstep {

std::vector<std::unique_ptr<Verb>> all_verbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  verbs.push_back(make_init_verb());
  verbs.push_back(make_up_verb());
  verbs.push_back(make_check_verb());
  verbs.push_back(make_plan_verb());
  verbs.push_back(make_apply_verb());
  verbs.push_back(make_run_verb());
  verbs.push_back(make_status_verb());
  verbs.push_back(make_health_verb());
  verbs.push_back(make_verify_verb());
  verbs.push_back(make_reindex_verb());
  verbs.push_back(make_adopt_verb());
  verbs.push_back(make_wait_verb());
  verbs.push_back(make_dead_letters_verb());
  verbs.push_back(make_remove_verb());
  verbs.push_back(make_lock_verb());
  verbs.push_back(make_locks_verb());
  verbs.push_back(make_tree_verb());
  verbs.push_back(make_print_config_verb());
  return verbs;
}

}  // namespace lockstep
