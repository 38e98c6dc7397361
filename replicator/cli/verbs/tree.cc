// `lockstep tree`: changes a directory tree that lives only in Elasticsearch, under locks.
#include "replicator/tree/tree.h"

#include <unistd.h>

#include <csignal>
#include <functional>
#include <iostream>

#include "replicator/cli/options/duration_option.h"
#include "replicator/cli/options/inherited_locks.h"
#include "replicator/cli/options/lock_mode_option.h"
#include "replicator/cli/options/options.h"
#include "replicator/cli/text/progress_line.h"
#include "replicator/cli/verb.h"
#include "replicator/clock.h"
#include "replicator/error.h"
#include "replicator/locks/open_locks.h"
#include "replicator/locks/patience.h"
#include "replicator/pause.h"
#include "replicator/process/caught_signals.h"
#include "replicator/process/standard_files.h"
#include "replicator/service/rate_meter.h"

namespace lockstep {
namespace {

/// A bar on a terminal; elsewhere lines, if it takes long.
class TreeProgress {
 public:
  void show(std::int64_t done, std::int64_t total) {
    rate_.add(SystemClock().now(), done);
    if (total > 1 && line_.due()) line_.show(progress_bar(done, total, rate_.per_second()));
  }
  void clear() { line_.clear(); }

 private:
  ProgressLine line_;
  RateMeter rate_;
};

class TreeVerb final : public Verb {
 public:
  const char* name() const override { return "tree"; }
  const char* summary() const override { return "Change a directory tree in Elasticsearch, under locks"; }
  const char* example() const override {
    return "lockstep tree mv /clinton /hillary --wait 30s\n"
           "lockstep tree put /hillary/notes.txt < notes.txt\n"
           "lockstep tree rm /hillary/old\n"
           "lockstep tree ls -r /hillary\n"
           "lockstep tree grep -r \"some text\" /hillary\n"
           "lockstep tree recover --watch";
  }

  void add_options(Options options) override {
    config_.add_to(options);
    Options mv = add(options, "mv", "Move or rename a file, or a directory with everything below it",
                     "mv /clinton/projects /hillary/projects", &TreeVerb::move);
    mv.option("FROM", path_, "The file or directory").required();
    mv.option("TO", to_,
              "Its new path, which must not exist; with \"/\" at the end: the directory to put it into")
        .required();
    Options rm = add(options, "rm", "Remove a file, or a directory with everything below it",
                     "rm /clinton/projects", &TreeVerb::remove);
    rm.option("PATH", path_, "The file or directory").required();
    Options put = add(options, "put", "Write a file from standard input, whether it exists or not",
                      "put /clinton/notes.txt < notes.txt", &TreeVerb::put);
    put.option("PATH", path_, "The file").required();
    Options mkdir = add(options, "mkdir", "Create a directory that remains if it is empty",
                        "mkdir /clinton/projects", &TreeVerb::make_directory);
    mkdir.option("PATH", path_, "The directory; those above it need not exist").required();
    Options cp = add(options, "cp", "Copy a file with all of its fields",
                     "cp /clinton/notes.txt /clinton/notes.old", &TreeVerb::copy);
    cp.option("FROM", path_, "The file").required();
    cp.option("TO", to_,
              "The copy, which must not exist; with \"/\" at the end: the directory to put it into")
        .required();
    Options cat =
        add(options, "cat", "Print the contents of a file", "cat /clinton/notes.txt", &TreeVerb::print);
    cat.option("PATH", path_, "The file").required();
    Options grep = add(options, "grep", "Print the paths of files that contain words, in this order",
                       "grep -r \"some text\" /clinton", &TreeVerb::search);
    grep.option("TEXT", text_, "The words, as the index's mapping of `contents` analyses them").required();
    grep.option("PATH", path_, "The directory in which to search, or a file").show_default("/");
    grep.flag("-r,--recursive", recursive_, "Below the directory, too, at any depth");
    Options ls = add(options, "ls", "List a directory; the names of directories end in \"/\"",
                     "ls -r /clinton", &TreeVerb::list);
    ls.option("PATH", path_, "The directory, or a file").show_default("/");
    ls.flag("-r,--recursive", recursive_,
            "Everything below it, too, with whole paths, directory by directory");
    Options recover = add(options, "recover", "Finish the changes of processes that died in the middle",
                          "recover --watch", &TreeVerb::recover);
    recover.flag("--watch", watch_, "Repeat that until a signal arrives");
    for (Options change : {mv, rm, put, mkdir, cp}) {
      add_wait(change, wait_);
    }
  }

  ExitCode run() override {
    const Config config = config_.load();
    if (chosen_ == nullptr)
      throw missing_subcommand(name(), "mv, rm, put, mkdir, cp, cat, grep, ls or recover");
    return (this->*chosen_)(config);
  }

 private:
  using Subcommand = ExitCode (TreeVerb::*)(const Config&);
  using Change = std::function<std::optional<Refusal>(Tree&, const TreeOptions&)>;

  Options add(Options options, const char* name, const char* summary, const char* example,
              Subcommand subcommand) {
    return options.command(name, summary, std::string("lockstep tree ") + example,
                           [this, subcommand] { chosen_ = subcommand; });
  }

  ExitCode move(const Config& config) {
    const TreePath from(path_);
    if (from.is_root()) throw UsageError("the root cannot be moved; name something in it");
    const TreePath to = target_of(from);
    return change(config,
                  [&](Tree& tree, const TreeOptions& options) { return tree.move(from, to, options); });
  }

  ExitCode copy(const Config& config) {
    const TreePath from(path_);
    if (from.is_root()) throw UsageError("the root is a directory; name a file");
    const TreePath to = target_of(from);
    return change(config,
                  [&](Tree& tree, const TreeOptions& options) { return tree.copy(from, to, options); });
  }

  ExitCode make_directory(const Config& config) {
    const TreePath path(path_);
    return change(config,
                  [&](Tree& tree, const TreeOptions& options) { return tree.make_directory(path, options); });
  }

  ExitCode print(const Config& config) {
    const TreePath path(path_);
    const std::unique_ptr<LockManager> locks = open_locks(config);
    std::cout << open_tree(config, *locks)->read(path);
    return ExitCode::kDone;
  }

  /// Reports unreadable documents on standard error, which then make the exit code 1.
  static Unreadable telling(ExitCode& code) {
    return [&code](const Error& error) {
      std::cerr << "lockstep: " << error.what() << '\n';
      code = ExitCode::kFailed;
    };
  }

  /// As grep(1): a failure when nothing was found.
  ExitCode search(const Config& config) {
    const TreePath path(path_.empty() ? "/" : path_);
    if (text_.empty()) throw UsageError("there are no words to search for; name some");
    ExitCode code = ExitCode::kDone;
    bool found = false;
    const std::unique_ptr<LockManager> locks = open_locks(config);
    open_tree(config, *locks)
        ->search(
            path, recursive_ ? TreeDepth::kAll : TreeDepth::kChildren, text_,
            [&](const TreeEntry& entry) {
              found = true;
              std::cout << entry.path << '\n';
            },
            telling(code));
    return found ? code : ExitCode::kFailed;
  }

  /// TO, or FROM's name in it.
  TreePath target_of(const TreePath& from) const {
    return to_.ends_with('/') ? TreePath(to_) / from.name() : TreePath(to_);
  }

  ExitCode remove(const Config& config) {
    const TreePath path(path_);
    return change(config, [&](Tree& tree, const TreeOptions& options) { return tree.remove(path, options); });
  }

  ExitCode put(const Config& config) {
    const TreePath path(path_);
    if (path_.ends_with('/')) throw UsageError(path_ + " names a directory; put writes a file");
    const std::string contents = read_standard_input(kMaxContentsBytes);  // more is refused
    return change(config,
                  [&](Tree& tree, const TreeOptions& options) { return tree.put(path, contents, options); });
  }

  ExitCode list(const Config& config) {
    const TreePath path(path_.empty() ? "/" : path_);
    const std::unique_ptr<LockManager> locks = open_locks(config);
    const std::unique_ptr<Tree> tree = open_tree(config, *locks);
    ExitCode code = ExitCode::kDone;
    const auto print = [&](const TreeEntry& entry) {
      std::cout << (recursive_ ? entry.path : entry.name) << (entry.is_directory ? "/\n" : "\n");
    };
    tree->list(path, recursive_ ? TreeDepth::kAll : TreeDepth::kChildren, print, telling(code));
    return code;
  }

  ExitCode recover(const Config& config) {
    // A signal ends it at once: it may be killed at any time, since the next process does the rest.
    if (watch_) {
      for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { ::_exit(0); });
    }
    const std::unique_ptr<LockManager> locks = open_locks(config);
    const std::unique_ptr<Tree> tree = open_tree(config, *locks);
    bool prepared = false;
    const auto sweep = [&] {
      if (!prepared) tree->prepare_recovery();
      prepared = true;
      return tree->recover();
    };
    if (watch_) watch(sweep, config.locks.lease);
    // A single request may take a third of the lease, which a busy server may exceed.
    const SweepResult result = Patience(config.locks.lease).insist(sweep);
    tell(result);
    say("operations whose lease still runs", result.under_lease);
    return result.failures.empty() ? ExitCode::kDone : ExitCode::kFailed;
  }

  /// Operations whose lease still runs are none of its news: it comes to them by itself.
  template <class Sweep>
  [[noreturn]] void watch(const Sweep& sweep, std::chrono::milliseconds lease) {
    while (true) {
      try {
        tell(sweep());
      } catch (const Error& error) {
        if (!error.retryable()) throw;
        std::cerr << "lockstep: " << error.what() << '\n';
      }
      pause(lease, std::stop_token());
    }
  }

  /// Does a change: waits for the locks, shows the progress, and ends when a signal comes.
  ExitCode change(const Config& config, const Change& change) {
    const std::chrono::milliseconds wait = wait_of(wait_);
    CaughtSignals signals;  // before any thread starts
    StopOnSignal stop(signals);
    const std::unique_ptr<LockManager> locks = open_locks(config);
    const std::unique_ptr<Tree> tree = open_tree(config, *locks);
    const Patience patience(wait, stop.token());
    TreeProgress progress;
    const auto show = [&](std::int64_t done, std::int64_t total) { progress.show(done, total); };
    const auto say_cause = [&](const Error& error) {
      progress.clear();
      std::cerr << "lockstep: " << error.what() << "; it is tried again\n";
    };
    std::optional<Refusal> refusal;
    try {
      patience.insist([&] { tree->prepare(); });
      const std::vector<std::string> under = patience.insist([&] { return inherited_locks(*locks); });
      refusal = change(*tree, {.wait = patience.left(),
                               .under = under,
                               .stop = stop.token(),
                               .hindered = say_cause,
                               .progress = show});
    } catch (const Error& error) {
      const std::optional<int> signal = stop.number();
      if (!signal) throw;
      progress.clear();
      std::cerr << "lockstep: " << error.what() << '\n';
      return static_cast<ExitCode>(128 + *signal);
    }
    if (!refusal) return ExitCode::kDone;
    if (const std::optional<int> signal = stop.number()) return static_cast<ExitCode>(128 + *signal);
    std::cerr << "lockstep: " << text_of(*refusal) << '\n';
    return ExitCode::kLockNotHad;
  }

  static void say(const char* what, std::int64_t count) {
    if (count > 0) std::cerr << what << ": " << count << '\n';
  }

  static void tell(const SweepResult& result) {
    say("changes finished for dead processes", result.rolled_forward);
    say("changes aborted for dead processes", result.aborted);
    say("locks of dead processes released", result.released);
    say("changes left unfinished, because they belong to another index", result.needs_roll_forward);
    for (const std::string& failure : result.failures) std::cerr << "lockstep: " << failure << '\n';
  }

  LockModeOption config_;
  std::string path_;
  std::string to_;
  std::string text_;
  std::string wait_ = "0s";
  bool recursive_ = false;
  bool watch_ = false;
  Subcommand chosen_ = nullptr;
};

}  // namespace

std::unique_ptr<Verb> make_tree_verb() {
  return std::make_unique<TreeVerb>();
}

}  // namespace lockstep
