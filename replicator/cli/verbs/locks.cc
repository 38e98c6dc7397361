// `lockstep locks`: who holds which lock, until when and for which operation; and how to break one by hand.
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "replicator/cli/options/lock_mode_option.h"
#include "replicator/cli/options/options.h"
#include "replicator/cli/options/yes_option.h"
#include "replicator/cli/text/lock_text.h"
#include "replicator/cli/verb.h"
#include "replicator/error.h"
#include "replicator/locks/open_locks.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

constexpr const char* kNothing = "nothing is locked\n";

class Locks final : public Verb {
 public:
  const char* name() const override { return "locks"; }
  const char* summary() const override { return "List, show or break locks, or create what they need"; }
  const char* example() const override {
    return "lockstep locks list\nlockstep locks show /clinton\nlockstep locks break /clinton";
  }

  void add_options(Options options) override {
    config_.add_to(options);
    Options list = add(options, "list", "Print all locks and all unfinished operations",
                       "lockstep locks list", &Locks::list);
    Options show = add(options, "show", "Print one lock, and the operations that hold it",
                       "lockstep locks show /clinton", &Locks::show);
    Options breaking = add(options, "break", "Free a lock that another process holds; its holder is deposed",
                           "lockstep locks break /clinton", &Locks::break_one);
    add(options, "prepare", "Create the indices and scripts, or tables, that locks need",
        "lockstep locks prepare", &Locks::prepare);
    for (Options reading : {list, show}) {
      reading.flag("--json", json_, "Print one JSON object on each line");
    }
    for (Options named : {show, breaking}) named.option("NAME", lock_, "The lock's name").required();
    yes_.add_to(breaking, YesOption::WithoutTerminal::kRefuse);
  }

  ExitCode run() override {
    const Config config = config_.load();
    if (chosen_ == nullptr) throw missing_subcommand(name(), "list, show, break or prepare");
    locks_ = open_locks(config);
    return (this->*chosen_)();
  }

 private:
  using Subcommand = ExitCode (Locks::*)();

  Options add(Options options, const char* name, const char* summary, const char* example,
              Subcommand subcommand) {
    return options.command(name, summary, example, [this, subcommand] { chosen_ = subcommand; });
  }

  void print(const LockState& lock, ServerTime now) const {
    std::cout << (json_ ? lock_json_line(lock, now) : lock_lines(lock, now));
  }
  void print(const Operation& operation, ServerTime now) const {
    std::cout << (json_ ? operation_json_line(operation, now) : operation_line(operation, now));
  }

  ExitCode prepare() {
    locks_->prepare();
    return ExitCode::kDone;
  }

  ExitCode list() {
    if (!locks_->attach()) {
      std::cerr << kNothing;
      return ExitCode::kDone;
    }
    const ServerTime now = locks_->now();
    ExitCode code = ExitCode::kDone;
    const auto tell = [&](const Error& error) {
      std::cerr << "lockstep: " << error.what() << '\n';
      code = ExitCode::kFailed;
    };
    const std::vector<LockState> locks = locks_->locks(tell);
    const std::vector<Operation> operations = locks_->unresolved(tell);
    for (const LockState& lock : locks) print(lock, now);
    if (!json_ && !locks.empty() && !operations.empty()) std::cout << '\n';
    for (const Operation& operation : operations) print(operation, now);
    if (locks.empty() && operations.empty() && code == ExitCode::kDone) std::cerr << kNothing;
    return code;
  }

  /// Also a name that Lockstep itself would not give a lock.
  LockName name_of_option() const { return LockName::as_stored(as_utf8(lock_)); }

  ExitCode show() {
    const LockName name = name_of_option();
    const std::optional<LockState> lock = locks_->attach() ? locks_->find_lock(name) : std::nullopt;
    if (!lock) {
      std::cerr << lock_ << " is not locked\n";
      return ExitCode::kDone;
    }
    const ServerTime now = locks_->now();
    print(*lock, now);
    for (const LockHolder& holder : lock->holders) {
      if (!holder.until) continue;
      if (const std::optional<Operation> operation = locks_->find_operation(holder.id))
        print(*operation, now);
    }
    return ExitCode::kDone;
  }

  ExitCode break_one() {
    yes_.require_answer("break asks before it frees a lock");
    const LockName name = name_of_option();
    const std::optional<LockState> lock = locks_->attach() ? locks_->find_lock(name) : std::nullopt;
    if (!lock) {
      std::cerr << lock_ << " is not locked\n";
      return ExitCode::kDone;
    }
    if (yes_.asks()) {
      std::cerr << lock_lines(*lock, locks_->now());
      const std::string question =
          "Free it? Until its holder notices, it keeps working alongside the next holder.";
      if (!yes_.confirms(question)) return ExitCode::kFailed;
    }
    locks_->prepare();
    switch (locks_->break_lock(name, user())) {
      case Broken::kNotLocked:
        std::cerr << lock_ << " is not locked\n";
        return ExitCode::kDone;
      case Broken::kReleased:
        std::cerr << lock_ << " is free\n";
        return ExitCode::kDone;
      case Broken::kNeedsRollForward:
        break;
    }
    throw Error({"breaking the lock " + lock_,
                 "its holder has committed a change of the tree, and the rest of it would stay undone",
                 "run `lockstep tree recover`, which finishes the change once its lease has run out"});
  }

  static std::string user() {
    const char* name = std::getenv("USER");
    return name != nullptr ? name : "uid " + std::to_string(::getuid());
  }

  LockModeOption config_;
  std::string lock_;
  bool json_ = false;
  YesOption yes_;
  Subcommand chosen_ = nullptr;

  // From run():
  std::unique_ptr<LockManager> locks_;
};

}  // namespace

std::unique_ptr<Verb> make_locks_verb() {
  return std::make_unique<Locks>();
}

}  // namespace lockstep
