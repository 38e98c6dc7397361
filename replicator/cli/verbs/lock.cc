// `lockstep lock`: runs a command under locks, as flock(1) does, but the locks live in a server.
#include <signal.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <nlohmann/json.hpp>
#include <variant>

#include "replicator/cli/options/duration_option.h"
#include "replicator/cli/options/inherited_locks.h"
#include "replicator/cli/options/lock_mode_option.h"
#include "replicator/cli/options/options.h"
#include "replicator/cli/text/json_text.h"
#include "replicator/cli/verb.h"
#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/error.h"
#include "replicator/locks/acquire.h"
#include "replicator/locks/lease_keeper.h"
#include "replicator/locks/open_locks.h"
#include "replicator/locks/patience.h"
#include "replicator/one_line.h"
#include "replicator/process/input_end.h"
#include "replicator/process/leased_command.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

constexpr std::size_t kMaxTargetBytes = 200;
/// So much of a lease is left to end the command when it cannot be renewed.
constexpr int kGraceOfALease = 5;

/// For a holder that ended before the loss was noticed.
constexpr const char* kWrittenSince =
    "writes since then may be older than those of others; check the fencing token with each "
    "write "
    "(docs/locks.md)";

class Lock final : public Verb {
 public:
  const char* name() const override { return "lock"; }
  const char* summary() const override { return "Run a command under a lock"; }
  const char* example() const override {
    return "lockstep lock --global -- ./import.sh\n"
           "lockstep lock --tree /clinton /hillary --wait 30s -- ./rename.sh /clinton /hillary\n"
           "lockstep lock --document 17 18 --wait 5s -- ./edit.sh\n"
           "lockstep lock --shared reports -- ./report.sh\n"
           "lockstep lock --exclusive report --hold";
  }

  void add_options(Options options) override {
    config_.add_to(options);
    Option global = options.flag("--global", global_, "The one lock for everything");
    Option documents = options.option("--document", documents_, "Documents with these ids").value_name("ID");
    Option tree =
        options
            .option("--tree", paths_,
                    "These files, or directories with everything below; the directories above: shared")
            .value_name("PATH");
    Option shared = options.option("--shared", shared_, "The locks of these names, shared with others")
                        .value_name("NAME");
    Option exclusive =
        options.option("--exclusive", exclusive_, "The locks of these names, alone").value_name("NAME");
    std::vector<Option> schemes = {global, documents, tree, shared, exclusive};
    for (Option& one : schemes) {
      if (&one != &schemes.front()) one.never_takes_options();
      for (const Option& other : schemes) {
        if (&one != &other) one.excludes(other);
      }
    }
    add_wait(options, wait_);
    options.option("-E,--conflict-exit-code", conflict_, "The exit code if the lock is not free in time")
        .value_name("NUMBER")
        .show_default();
    options.flag("--hold", hold_,
                 "Run no command: print the token as JSON, and hold the lock until standard input ends");
    // Everything behind the command's name belongs to the command, options as well. (A "--" behind a list of
    // ids only ends the list.)
    options.end_at_first_argument();
    options.option("COMMAND", command_, "The command and its arguments, behind --");
  }

  ExitCode run() override {
    const InheritedDescriptors inherited;  // before anything is opened
    const Config config = config_.load();
    const LockSet locks = lock_set_of_options();
    if (command_.empty() && !hold_)
      throw UsageError("there is no COMMAND to run under the lock; write it behind --");
    if (!command_.empty() && hold_) throw UsageError("--hold runs no COMMAND; leave it out");
    const Waiting waiting{wait_of(wait_), conflict_code()};

    CaughtSignals signals;  // before any thread starts
    const std::unique_ptr<LockManager> manager = open_locks(config);
    std::variant<Operation, ExitCode> taken = take(*manager, locks, waiting, signals);
    if (const ExitCode* const code = std::get_if<ExitCode>(&taken)) return *code;
    Operation& operation = std::get<Operation>(taken);
    const SteadyTime since = SystemClock().now();
    commit(*manager, operation);
    return hold_ ? hold(*manager, operation, since, signals)
                 : run_under(*manager, operation, since, {signals, inherited});
  }

 private:
  LockSet lock_set_of_options() const {
    for (const auto& [option, names] : {std::pair("--document", &documents_),
                                        {"--tree", &paths_},
                                        {"--shared", &shared_},
                                        {"--exclusive", &exclusive_}}) {
      if (std::find(names->begin(), names->end(), "") == names->end()) continue;
      throw UsageError(std::string(option) +
                       ": the name of a lock is missing; a word that begins with \"-\" is an option, unless "
                       "it is written " +
                       option + "=-NAME");
    }
    if (global_) return global_lock();
    if (!documents_.empty()) return document_locks(documents_);
    if (!paths_.empty()) return tree_locks(paths_);
    if (!shared_.empty()) return named_locks(shared_, LockMode::kShared);
    if (!exclusive_.empty()) return named_locks(exclusive_, LockMode::kExclusive);
    throw UsageError(
        "lock: choose a lock: --global, --document, --tree, --shared or --exclusive; see --help");
  }

  static LockSet named_locks(const std::vector<std::string>& names, LockMode mode) {
    std::vector<LockRequest> requests;
    for (const std::string& name : names) requests.push_back({LockName(name), mode});
    return lock_set(std::move(requests));
  }

  ExitCode conflict_code() const {
    int code = 0;
    const char* const end = conflict_.data() + conflict_.size();
    const auto [stop, error] = std::from_chars(conflict_.data(), end, code);
    if (error == std::errc() && stop == end && code >= 0 && code <= 255) return static_cast<ExitCode>(code);
    throw UsageError("--conflict-exit-code: \"" + conflict_ + "\" is no exit code; write 0 to 255");
  }

  /// The command, for people who read the journal.
  std::string target() const {
    if (hold_) return "--hold";
    std::string text;
    for (const std::string& word : command_) text += (text.empty() ? "" : " ") + word;
    return shortened(in_one_line(as_utf8(text)), kMaxTargetBytes);
  }

  struct Waiting {
    std::chrono::milliseconds limit;
    ExitCode conflict;  ///< the exit code after a refusal
  };

  /// Opens an operation that holds the locks. Returns the exit code if it did not get them.
  std::variant<Operation, ExitCode> take(LockManager& manager, const LockSet& locks, const Waiting& waiting,
                                         CaughtSignals& signals) const {
    StopOnSignal stop(signals);
    const Patience patience(waiting.limit, stop.token());
    try {
      patience.insist([&] { manager.prepare(); });
      while (true) {
        Operation operation = patience.insist(
            [&] { return manager.open({.target = target(), .under = inherited_locks(manager)}, locks); });
        std::optional<Refusal> refusal;
        try {
          NoRollForward nothing;
          refusal = acquire(manager, operation, nothing, {.limit = patience.left(), .stop = stop.token()});
        } catch (const LeaseLost& lost) {
          // The server was away for longer than a lease, and another process has cleared up.
          if (lost.over()) clear_up(manager, operation);
          if (patience.left() == std::chrono::milliseconds(0))
            throw Error({"waiting for the lock", lost.what(), "try again"});
          continue;
        } catch (const Error& error) {
          throw error.retryable() ? patience.exhausted(error) : error;
        }
        const std::optional<int> signal = stop.number();
        if (!refusal && !signal) return operation;
        give_up(manager, operation, refusal ? text_of(*refusal) : "interrupted");
        if (signal) return static_cast<ExitCode>(128 + *signal);
        std::cerr << "lockstep: " << text_of(*refusal) << '\n';
        return waiting.conflict;
      }
    } catch (const Error&) {
      if (const std::optional<int> signal = stop.number()) return static_cast<ExitCode>(128 + *signal);
      throw;
    }
  }

  static void commit(LockManager& manager, Operation& operation) {
    try {
      manager.commit(operation);
    } catch (const LeaseLost& lost) {
      if (lost.over()) clear_up(manager, operation);
      throw Error({"taking the lock", lost.what(), "nothing was started; try again"});
    }
  }

  struct Surroundings {
    CaughtSignals& signals;
    const InheritedDescriptors& inherited;
  };

  ExitCode run_under(LockManager& manager, Operation& operation, SteadyTime since,
                     const Surroundings& surroundings) const {
    std::unique_ptr<LeasedCommand> command;
    try {
      command = start(surroundings, operation, end_of_lease(manager, since));
    } catch (const NotStarted& error) {
      give_back(manager, operation);
      std::cerr << "lockstep: " << error.what() << '\n';
      return static_cast<ExitCode>(error.exit_code());
    } catch (const std::exception&) {
      give_back(manager, operation);
      throw;
    }
    int code = 0;
    std::optional<LeaseKeeper::Loss> lost;
    {
      LeaseKeeper keeper(manager, operation, since, [&] { command->lose(); });
      code =
          command->wait([&] { return keeper.good_until(); },
                        std::min<std::chrono::milliseconds>(kTermination, manager.lease() / kGraceOfALease));
      lost = keeper.stop();
    }
    if (command->guard_killed()) {
      std::cerr << "lockstep: the process that watches over the command was killed (by signal "
                << *command->guard_killed() << "), so the command was ended\n";
    }
    if (command->ended_by_us()) {
      say_lost(manager, operation, lost,
               "the command was ended; start it again, and see to it that each of its writes checks its "
               "fencing token (docs/locks.md)");
    }
    if (lost) say_lost(manager, operation, lost, kWrittenSince);
    give_back(manager, operation);
    return static_cast<ExitCode>(code);
  }

  /// For programs in other languages: the pipe to them holds the lock.
  static ExitCode hold(LockManager& manager, Operation& operation, SteadyTime since, CaughtSignals& signals) {
    const std::string variable = inheritance_of(operation);
    ::signal(SIGPIPE, SIG_IGN);  // without a reader of the token: an error like others, and the lock is given
                                 // back
    std::cout << json_text({{"token", operation.token},
                            {"operation", operation.id},
                            {"environment",
                             {{"LOCKSTEP_FENCING_TOKEN", std::to_string(operation.token)},
                              {"LOCKSTEP_LOCK", variable.substr(variable.find('=') + 1)}}}})
              << std::endl;
    if (!std::cout) {
      give_back(manager, operation);
      throw Error({"printing the token", "standard output does not take it", "the lock is free again"});
    }
    InputEnd input(signals);
    InputEnd::Cause cause{};
    std::optional<LeaseKeeper::Loss> lost;
    {
      LeaseKeeper keeper(manager, operation, since, [&] { input.lose(); });
      cause = input.wait([&] { return keeper.good_until(); });
      lost = keeper.stop();
    }
    if (cause.lost || lost) say_lost(manager, operation, lost, "write nothing more; take the lock again");
    give_back(manager, operation);
    return cause.signal ? static_cast<ExitCode>(128 + *cause.signal) : ExitCode::kDone;
  }

  std::unique_ptr<LeasedCommand> start(const Surroundings& surroundings, const Operation& operation,
                                       SteadyTime good_until) const {
    return std::make_unique<LeasedCommand>(
        surroundings.signals, surroundings.inherited,
        LeasedCommand::Start{
            command_,
            {"LOCKSTEP_FENCING_TOKEN=" + std::to_string(operation.token), inheritance_of(operation)},
            good_until});
  }

  /// The rest of the lost lock is given back in one try; the rest ends with the lease, which is over.
  [[noreturn]] static void say_lost(LockManager& manager, const Operation& operation,
                                    const std::optional<LeaseKeeper::Loss>& lost, const std::string& remedy) {
    if (lost && lost->over) clear_up(manager, operation);
    throw Error({"holding the lock", lost ? lost->reason : "the lease could not be renewed in time", remedy});
  }

  static void clear_up(LockManager& manager, const Operation& operation) {
    try {
      manager.release(operation);
    } catch (const Error&) {
      // The caller reports the worse error; the lock ends with its lease.
    }
  }

  /// Of an operation that has not happened.
  static void give_up(LockManager& manager, Operation& operation, const std::string& reason) {
    try {
      manager.finish(operation, OperationState::kAborted, reason);
      manager.release(operation);
    } catch (const LeaseLost&) {
      clear_up(manager, operation);
    } catch (const Error& error) {
      if (!error.retryable()) throw;
      // It holds nothing, and its entry in the journal ends with its lease.
    }
  }

  static void give_back(LockManager& manager, Operation& operation) {
    try {
      if (!operation.resolved()) manager.finish(operation, OperationState::kDone, "");
      manager.release(operation);
    } catch (const LeaseLost& lost) {
      say_lost(manager, operation, LeaseKeeper::Loss{lost.what(), lost.over()}, kWrittenSince);
    } catch (const Error& error) {
      if (!error.retryable()) throw;
      // The command has done its work, and the lock ends by itself.
      std::cerr << "lockstep: the lock could not be released; it ends with its lease: " << error.what()
                << '\n';
    }
  }

  LockModeOption config_;
  bool global_ = false;
  bool hold_ = false;
  std::vector<std::string> documents_;
  std::vector<std::string> paths_;
  std::vector<std::string> shared_;
  std::vector<std::string> exclusive_;
  std::string wait_ = "0s";
  std::string conflict_ = std::to_string(static_cast<int>(ExitCode::kLockNotHad));
  std::vector<std::string> command_;
};

}  // namespace

std::unique_ptr<Verb> make_lock_verb() {
  return std::make_unique<Lock>();
}

}  // namespace lockstep
