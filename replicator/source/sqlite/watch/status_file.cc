#include "replicator/source/sqlite/watch/status_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "replicator/error.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

constexpr const char* kRemoveTheOther = "only lockstep's leader makes this file: remove the other one";

Error failed(const std::string& doing, const std::filesystem::path& file, const std::string& cause,
             const std::string& remedy) {
  return Error({doing + " " + file.string(), cause, remedy, Retry::kLater, Server::kSource});
}

// The caller has just failed at the file.
Error failed(const std::string& doing, const std::filesystem::path& file) {
  const int fault = errno;
  return failed(doing, file, std::strerror(fault), remedy_of_file_fault(fault));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  const int number_;
};

std::filesystem::path fresh_of(const std::filesystem::path& file) {
  return file.string() + ".new";
}

void remove_entry(const std::filesystem::path& file) {
  if (unlink(file.c_str()) == 0 || errno == ENOENT) return;
  throw failed("removing another file at", file);
}

// The existing file is not opened but removed: the folder is the application's, which may have planted a link
// to a file of root's, or a pipe.
void write_new(const std::filesystem::path& file, std::string_view text) {
  remove_entry(file);
  const Descriptor out(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                            S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
  if (!out.is_open()) throw failed("making", file);
  while (!text.empty()) {
    const ssize_t written = write(out.number(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw failed("writing", file);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// None: there is no file.
std::optional<std::string> text_of(const std::filesystem::path& file) {
  const Descriptor in(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!in.is_open()) {
    if (errno == ENOENT) return std::nullopt;
    throw failed("reading", file);
  }
  struct stat found {};
  if (fstat(in.number(), &found) != 0) throw failed("reading", file);
  if (!S_ISREG(found.st_mode)) throw failed("reading", file, "it is no regular file", kRemoveTheOther);
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t size = read(in.number(), part.data(), part.size());
    if (size == 0) return text;
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw failed("reading", file);
    text.append(part.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace

const char* remedy_of_file_fault(int fault) {
  switch (fault) {
    case ENOSPC:
    case EDQUOT:
      return "free disk space there, or raise the quota";
    case EACCES:
    case EPERM:
    case EROFS:
      return "grant the user that runs lockstep the rights to this file and its folder";
    case EEXIST:
    case EISDIR:
    case ENOTEMPTY:
    case ELOOP:
    case ENXIO:
      return kRemoveTheOther;
    default:
      return "see why the file system refuses it; lockstep tries again";
  }
}

// Renamed into place, so that it is never read half-written.
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
  const std::filesystem::path fresh = fresh_of(file);
  write_new(fresh, json.dump() + '\n');
  if (rename(fresh.c_str(), file.c_str()) != 0) throw failed("writing", file);
}

std::optional<SqliteReport> read_report(const std::filesystem::path& file) {
  const std::optional<std::string> text = text_of(file);
  if (!text) return std::nullopt;
  try {
    const nlohmann::json json = nlohmann::json::parse(*text);
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
    throw Error({"reading " + file.string(), error.what(), "delete the file; the leader writes it again"});
  }
}

void remove_report(const std::filesystem::path& file) {
  remove_entry(fresh_of(file));
  remove_entry(file);
}

}  // namespace lockstep
