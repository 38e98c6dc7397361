#include "replicator/log/log_command.h"

#include <pwd.h>
#include <spdlog/spdlog.h>
#include <sys/syslog.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "replicator/log/log.h"
#include "replicator/one_line.h"

namespace lockstep {
namespace {

std::string name_of_user(uid_t user) {
  std::vector<char> buffer(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  const bool failed = ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0;
  return failed || found == nullptr ? "uid " + std::to_string(user) : entry.pw_name;
}

std::string caller() {
  const std::string user = name_of_user(::getuid());
  // Any user may set it, but for root only sudo does.
  const char* const asked_by = ::getuid() == 0 ? std::getenv("SUDO_USER") : nullptr;
  return asked_by == nullptr || *asked_by == '\0' ? user : in_one_line(asked_by) + " (as " + user + ")";
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

// Does nothing if no journal runs.
void write_to_journal(std::vector<std::string> entries) {
  std::vector<iovec> parts;
  for (std::string& entry : entries) parts.push_back({entry.data(), entry.size()});
  sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
}

}  // namespace

void log_command(const std::string& command, const std::string& pipeline) {
  const std::string user = caller();
  const std::string message = command + " of pipeline " + pipeline + " by " + user + " on " + host_name();
  {
    const LogField command_field("command", command);
    const LogField user_field("user", user);
    spdlog::info("{}", message);
  }
  write_to_journal({"MESSAGE=" + message, "PRIORITY=" + std::to_string(LOG_NOTICE),
                    "SYSLOG_IDENTIFIER=lockstep", "LOCKSTEP_PIPELINE=" + pipeline,
                    "LOCKSTEP_COMMAND=" + command, "LOCKSTEP_USER=" + user});
}

}  // namespace lockstep
