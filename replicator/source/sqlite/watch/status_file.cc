#include "replicator/source/sqlite/watch/status_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "replicator/error.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Error failed(const std::string& doing, const std::filesystem::path& file, const std::string& cause) {
  return Error({doing + " " + file.string(), cause, "", Retry::kLater, Server::kSource});
}

}  // namespace

// Renamed into place, so that nobody reads half of it.
void write_report(const std::filesystem::path& file, const SqliteReport& report) {
  const LeaderReport& leader = report.leader;
  const nlohmann::json json = {
      {"state", as_utf8(leader.state)},
      {"reason", as_utf8(leader.reason)},
      {"host", as_utf8(leader.host)},
      {"pid", leader.pid},
      {"started_at", leader.started_at},
      {"beat_at_ms", now_ms()},
      {"document", as_utf8(leader.document)},
      {"pending_ms", report.pending_age ? nlohmann::json(report.pending_age->count()) : nlohmann::json()},
  };
  const std::filesystem::path fresh = file.string() + ".new";
  std::ofstream out(fresh, std::ios::trunc);
  out << json.dump() << '\n';
  out.close();
  if (!out) throw failed("writing", fresh, std::strerror(errno));
  std::error_code fault;
  std::filesystem::rename(fresh, file, fault);
  if (fault) throw failed("writing", file, fault.message());
}

std::optional<SqliteReport> read_report(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) {
    if (errno == ENOENT) return std::nullopt;
    throw failed("reading", file, std::strerror(errno));
  }
  std::ostringstream text;
  text << in.rdbuf();
  try {
    const nlohmann::json json = nlohmann::json::parse(text.str());
    SqliteReport report;
    report.leader.state = json.at("state");
    report.leader.reason = json.at("reason");
    report.leader.host = json.at("host");
    report.leader.pid = json.at("pid");
    report.leader.started_at = json.at("started_at");
    report.leader.age = std::chrono::milliseconds(
        std::max<std::int64_t>(0, now_ms() - json.at("beat_at_ms").get<std::int64_t>()));
    report.leader.document = json.at("document");
    if (!json.at("pending_ms").is_null())
      report.pending_age = std::chrono::milliseconds(json.at("pending_ms"));
    return report;
  } catch (const nlohmann::json::exception& error) {
    throw Error({"reading " + file.string(), error.what(), "delete the file; the leader writes it anew"});
  }
}

}  // namespace lockstep
