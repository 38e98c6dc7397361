// `lockstep lock`: runs a command under locks, as flock(1) does, but the locks live in a server.
#include <iostream>

#include "replicator/cli/options/duration_option.h"
#include "replicator/cli/options/lock_mode_option.h"
#include "replicator/cli/options/options.h"
#include "replicator/cli/verb.h"
#include "replicator/error.h"
#include "replicator/locks/acquire.h"
#include "replicator/locks/lease_keeper.h"
#include "replicator/locks/open_locks.h"
#include "replicator/process/leased_command.h"

namespace lockstep {
namespace {

constexpr std::size_t kMaxTargetBytes = 200;

class Lock final : public Verb {
 public:
  const char* name() const override { return "lock"; }
  const char* summary() const override { return "Run a command under a lock"; }
  const char* example() const override {
    return "lockstep lock --global -- ./import.sh\n"
           "lockstep lock --tree /clinton /hillary --wait 30s -- ./rename.sh /clinton /hillary\n"
           "lockstep lock --document 17 18 --wait 5s -- ./edit.sh\n"
           "lockstep lock --shared reports -- ./report.sh";
  }

  void add_options(Options options) override {
    config_.add_to(options);
    Option global = options.flag("--global", global_, "The one lock for everything");
    Option documents = options.option("--document", documents_, "Documents with these ids").value_name("ID");
    Option tree = options
                      .option("--tree", paths_,
                              "These files, or directories with everything below; what is above them: shared")
                      .value_name("PATH");
    Option shared =
        options.option("--shared", shared_, "The lock of this name, together with others who share it")
            .value_name("NAME");
    Option exclusive =
        options.option("--exclusive", exclusive_, "The lock of this name, alone").value_name("NAME");
    std::vector<Option> schemes = {global, documents, tree, shared, exclusive};
    for (Option& one : schemes) {
      for (const Option& other : schemes) {
        if (&one != &other) one.excludes(other);
      }
    }
    add_duration(options, "--wait", wait_, "How long to wait for the lock: 500ms, 30s, 5m; 0s: not at all");
    // Everything behind the command's name belongs to the command, options as well. (A "--" behind a list of
    // ids only ends the list.)
    options.end_at_first_argument();
    options.option("COMMAND", command_, "The command and its arguments, behind --");
  }

  ExitCode run() override {
    const Config config = config_.load();
    const LockSet locks = lock_set_of_options();
    if (command_.empty()) throw UsageError("there is no COMMAND to run under the lock; write it behind --");
    const std::chrono::milliseconds wait = duration_of("--wait", wait_);

    CaughtSignals signals;  // before any thread starts
    const std::unique_ptr<LockManager> manager = open_locks(config);
    manager->prepare();
    Operation operation = manager->open({.target = target()}, locks);
    try {
      return run_under(*manager, operation, wait, signals);
    } catch (const LeaseLost& lost) {
      if (lost.over()) manager->release(operation);
      throw Error({"holding the lock", lost.what(),
                   "what the command has written since then may be older than what others wrote; check the "
                   "fencing token with each write (docs/locks.md)"});
    }
  }

 private:
  LockSet lock_set_of_options() const {
    if (global_) return global_lock();
    if (!documents_.empty()) return document_locks(documents_);
    if (!paths_.empty()) return tree_locks(paths_);
    if (!shared_.empty()) return {{LockName(shared_), LockMode::kShared}};
    if (!exclusive_.empty()) return {{LockName(exclusive_), LockMode::kExclusive}};
    throw UsageError(
        "lock: name what to lock: --global, --document, --tree, --shared or --exclusive; see --help");
  }

  /// The command, for people who read the journal.
  std::string target() const {
    std::string text;
    for (const std::string& word : command_) text += (text.empty() ? "" : " ") + word;
    return text.substr(0, kMaxTargetBytes);
  }

  ExitCode run_under(LockManager& manager, Operation& operation, std::chrono::milliseconds wait,
                     CaughtSignals& signals) const {
    if (const std::optional<ExitCode> code = refused(manager, operation, wait, signals)) return *code;
    const SteadyTime begin = SystemClock().now();
    manager.commit(operation);
    const std::unique_ptr<LeasedCommand> command = start(manager, operation, signals);
    int code = 0;
    std::optional<std::string> lost;
    {
      LeaseKeeper keeper(manager, operation, begin, [&] { command->lose(); });
      code = command->wait([&] { return keeper.good_until(); });
      lost = keeper.stop();
    }
    if (command->ended_by_us() && !lost) lost = "the lease could not be renewed in time";
    // Throws LeaseLost if somebody else has taken the operation over.
    give_back(manager, operation);
    if (lost) throw Error({"holding the lock", *lost, "the command was ended; start it again"});
    return static_cast<ExitCode>(code);
  }

  std::unique_ptr<LeasedCommand> start(LockManager& manager, Operation& operation,
                                       CaughtSignals& signals) const {
    try {
      return std::make_unique<LeasedCommand>(
          signals, command_,
          std::vector<std::string>{"LOCKSTEP_FENCING_TOKEN=" + std::to_string(operation.token)});
    } catch (const Error&) {
      give_back(manager, operation);
      throw;
    }
  }

  /// Takes the lock. Returns the exit code if it did not get it.
  static std::optional<ExitCode> refused(LockManager& manager, Operation& operation,
                                         std::chrono::milliseconds wait, CaughtSignals& signals) {
    NoRollForward nothing;
    StopOnSignal stop(signals);
    AcquireOptions options;
    options.limit = wait;
    options.stop = stop.token();
    const std::optional<Refusal> refusal = acquire(manager, operation, nothing, options);
    const std::optional<int> signal = stop.number();
    if (!refusal && !signal) return std::nullopt;
    manager.finish(operation, OperationState::kAborted, refusal ? text_of(*refusal) : "interrupted");
    manager.release(operation);
    if (signal) return static_cast<ExitCode>(128 + *signal);
    std::cerr << "lockstep: " << text_of(*refusal) << '\n';
    return ExitCode::kLockNotHad;
  }

  static void give_back(LockManager& manager, Operation& operation) {
    try {
      manager.finish(operation, OperationState::kDone, "");
      manager.release(operation);
    } catch (const Error& error) {
      if (!error.retryable()) throw;
      // The command has done its work, and the lock ends by itself.
      std::cerr << "lockstep: the lock could not be released; it ends with its lease: " << error.what()
                << '\n';
    }
  }

  LockModeOption config_;
  bool global_ = false;
  std::vector<std::string> documents_;
  std::vector<std::string> paths_;
  std::string shared_;
  std::string exclusive_;
  std::string wait_ = "0s";
  std::vector<std::string> command_;
};

}  // namespace

std::unique_ptr<Verb> make_lock_verb() {
  return std::make_unique<Lock>();
}

}  // namespace lockstep
