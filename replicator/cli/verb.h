// One command of `lockstep`: its name, its options and its work. Each has a file of its own; their table is
// in verb_table.cc.
#pragma once

#include <memory>
#include <vector>

#include "replicator/cli/options/options.h"
#include "replicator/exit_code.h"

namespace lockstep {

/// The readers of a command's output besides its data.
enum class Audience {
  kPerson,   ///< plain text on standard error
  kJournal,  ///< log lines: the journal, JSON lines, or text on a terminal
};

class Verb {
 public:
  virtual ~Verb() = default;

  virtual const char* name() const = 0;
  virtual const char* summary() const = 0;  ///< one line, for the list of commands
  virtual const char* example() const = 0;  ///< one or more command lines, for --help
  virtual Audience audience() const { return Audience::kPerson; }

  virtual void add_options(Options options) = 0;

  /// Writes data to standard output. Throws UsageError and Error, which become messages and exit codes in
  /// run_command_line().
  virtual ExitCode run() = 0;
};

/// Commands below one heading of `lockstep --help`.
struct VerbGroup {
  const char* name;
  std::vector<std::unique_ptr<Verb>> verbs;
};

/// All commands, in the order of `lockstep --help`.
std::vector<VerbGroup> verb_groups();
std::vector<std::unique_ptr<Verb>> all_verbs();

std::unique_ptr<Verb> make_init_verb();
std::unique_ptr<Verb> make_up_verb();
std::unique_ptr<Verb> make_check_verb();
std::unique_ptr<Verb> make_plan_verb();
std::unique_ptr<Verb> make_apply_verb();
std::unique_ptr<Verb> make_run_verb();
std::unique_ptr<Verb> make_status_verb();
std::unique_ptr<Verb> make_health_verb();
std::unique_ptr<Verb> make_verify_verb();
std::unique_ptr<Verb> make_reindex_verb();
std::unique_ptr<Verb> make_adopt_verb();
std::unique_ptr<Verb> make_wait_verb();
std::unique_ptr<Verb> make_dead_letters_verb();
std::unique_ptr<Verb> make_remove_verb();
std::unique_ptr<Verb> make_lock_verb();
std::unique_ptr<Verb> make_locks_verb();
std::unique_ptr<Verb> make_tree_verb();
std::unique_ptr<Verb> make_print_config_verb();

}  // namespace lockstep
