#include "replicator/process/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace lockstep {
namespace {

using std::chrono::milliseconds;

/// After that many seconds of SIGKILL a process is another user's, or hangs in the kernel.
constexpr std::chrono::seconds kPatience{5};
constexpr milliseconds kPoll{5};

struct Stat {
  pid_t parent = 0;
  bool ended = false;  // a zombie
};

std::optional<pid_t> number_in(std::string_view text) {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// From /proc/PID/stat: "17 (a name) S 4 …".
std::optional<Stat> stat_of(const std::string& process) {
  const int file = ::open(("/proc/" + process + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 512> buffer{};
  const ssize_t length = ::read(file, buffer.data(), buffer.size());
  ::close(file);
  if (length <= 0) return std::nullopt;
  std::string_view text(buffer.data(), static_cast<std::size_t>(length));
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || text.size() < name_end + 5) return std::nullopt;
  text.remove_prefix(name_end + 2);
  const char state = text[0];
  text.remove_prefix(2);
  const std::optional<pid_t> parent = number_in(text.substr(0, text.find(' ')));
  if (!parent) return std::nullopt;
  return Stat{*parent, state == 'Z' || state == 'X'};
}

/// The children of each process.
std::multimap<pid_t, std::pair<pid_t, bool>> processes() {
  std::multimap<pid_t, std::pair<pid_t, bool>> children;
  DIR* const folder = ::opendir("/proc");
  if (folder == nullptr) return children;
  while (const dirent* const entry = ::readdir(folder)) {
    const std::optional<pid_t> process = number_in(entry->d_name);
    if (!process) continue;
    if (const std::optional<Stat> stat = stat_of(entry->d_name))
      children.emplace(stat->parent, std::pair(*process, stat->ended));
  }
  ::closedir(folder);
  return children;
}

/// Reaps those that have ended; returns whether any child is left. The kernel knows at once; a look at /proc
/// misses one whose parent ends while it looks.
bool reap_children() {
  pid_t ended = 0;
  do ended = ::waitpid(-1, nullptr, WNOHANG);
  while (ended > 0 || (ended < 0 && errno == EINTR));
  return ended == 0;
}

}  // namespace

void adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::vector<pid_t> descendants() {
  const auto children = processes();
  std::vector<pid_t> found;
  std::vector<pid_t> parents = {::getpid()};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    const auto [begin, end] = children.equal_range(parent);
    for (auto child = begin; child != end; ++child) {
      const auto& [process, ended] = child->second;
      parents.push_back(process);
      if (!ended) found.push_back(process);
    }
  }
  return found;
}

void signal_descendants(int number, pid_t spared) {
  for (const pid_t process : descendants()) {
    if (process != spared) ::kill(process, number);
  }
}

bool end_descendants(SteadyTime kill_at) {
  const SystemClock clock;
  signal_descendants(SIGTERM);
  signal_descendants(SIGCONT);
  std::optional<SteadyTime> give_up_at;
  while (reap_children()) {  // orphans are children, too
    const SteadyTime now = clock.now();
    if (now < kill_at) {
      std::this_thread::sleep_for(kPoll);
      continue;
    }
    // Counted from the first, which may be late: this process, or the machine, may have stood still.
    if (!give_up_at) give_up_at = now + kPatience;
    if (now >= *give_up_at) return false;
    // Again and again without a pause: one that forks and ends is there under another number next time.
    signal_descendants(SIGKILL);
  }
  return true;
}

}  // namespace lockstep
