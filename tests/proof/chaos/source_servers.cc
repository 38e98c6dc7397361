#include "tests/proof/chaos/source_servers.h"

#include <chrono>
#include <fstream>
#include <pqxx/pqxx>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/support/eventually.h"
#include "tests/support/program.h"

namespace lockstep::chaos {
namespace {

using support::Completed;
using support::HostAndPort;
using support::run_program;

// A replica that was held back for a while finds what it has missed.
constexpr const char* kSettings[] = {"-c", "wal_keep_size=512MB"};

std::string control(const std::string& verb, const std::filesystem::path& folder,
                    const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> all{verb, "--data", folder.string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Completed script = run_program(LOCKSTEP_SOURCE_DIR "/scripts/postgresql", all);
  if (script.exit_code != 0) throw std::runtime_error("scripts/postgresql " + verb + ": " + script.err);
  return script.out;
}

void must_run(const std::string& file, const std::vector<std::string>& arguments) {
  const Completed completed = run_program(file, arguments);
  if (completed.exit_code != 0) throw std::runtime_error(file + ": " + completed.err);
}

std::string superuser_of(const HostAndPort& address) {
  return "host=" + address.host + " port=" + std::to_string(address.port) + " user=postgres dbname=postgres";
}

HostAndPort address_in(const std::string& url) {
  return support::host_and_port("http://" + url.substr(url.find('@') + 1));
}

}  // namespace

SourceServers::SourceServers(std::filesystem::path folder)
    : folder_(std::move(folder)), primary_(start(folder_ / "postgresql")), replication_(primary_.address) {}

SourceServers::~SourceServers() {
  if (replica_) drop(replica_->folder);
  if (copy_) drop(*copy_);
  drop(primary_.folder);
}

SourceServers::Server SourceServers::start(const std::filesystem::path& folder) {
  return {folder, address_in(control("start", folder, {std::begin(kSettings), std::end(kSettings)}))};
}

void SourceServers::drop(const std::filesystem::path& folder) {
  try {
    control("stop", folder, {"--immediate"});
  } catch (const std::exception&) {
    // It may never have been started.
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

void SourceServers::crash() {
  std::vector<std::string> arguments{"--immediate"};
  arguments.insert(arguments.end(), std::begin(kSettings), std::end(kSettings));
  control("restart", primary_.folder, arguments);
}

std::filesystem::path SourceServers::new_folder() {
  return folder_ / ("postgresql-" + std::to_string(++folders_));
}

std::filesystem::path SourceServers::base_backup(const std::vector<std::string>& options, int port) {
  const std::filesystem::path folder = new_folder();
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "server") << "postgresql\n";
  std::vector<std::string> arguments{"--pgdata=" + (folder / "data").string(),
                                     "--host=127.0.0.1",
                                     "--port=" + std::to_string(port),
                                     "--username=postgres",
                                     "--wal-method=stream",
                                     "--checkpoint=fast",
                                     "--no-sync"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  must_run("pg_basebackup", arguments);
  // Servers don't run as root.
  must_run("chown", {"-R", "--reference=" + (primary_.folder / "data").string(), (folder / "data").string()});
  return folder;
}

void SourceServers::take_copy() {
  std::filesystem::path copy = base_backup({}, primary_.address.port);
  if (copy_) drop(*copy_);
  copy_ = std::move(copy);
}

void SourceServers::put_copy_back(Return how) {
  if (replica_) drop(std::exchange(replica_, std::nullopt)->folder);
  drop(primary_.folder);
  const std::filesystem::path copy = std::exchange(copy_, std::nullopt).value();
  if (how == Return::kRecovery) {
    std::ofstream(copy / "data" / "recovery.signal").flush();
    std::ofstream(copy / "data" / "postgresql.auto.conf", std::ios::app) << "restore_command = 'false'\n";
  }
  primary_ = start(copy);
  pqxx::connection connection(superuser_of(primary_.address));
  const bool recovered = support::wait_until(
      [&] {
        pqxx::nontransaction work(connection);
        return !work.exec1("select pg_is_in_recovery()")[0].as<bool>();
      },
      std::chrono::minutes(1));
  if (!recovered) throw std::runtime_error("the copy is still in recovery");
}

void SourceServers::start_replica() {
  if (replica_) drop(std::exchange(replica_, std::nullopt)->folder);
  replication_.heal();
  replication_.lead_to(primary_.address);
  replica_ = start(base_backup({"--write-recovery-conf"}, replication_.port()));
}

void SourceServers::promote_replica() {
  drop(primary_.folder);
  replication_.cut();  // what is held is lost
  replication_.heal();
  primary_ = std::exchange(replica_, std::nullopt).value();
  pqxx::connection connection(superuser_of(primary_.address));
  pqxx::nontransaction work(connection);
  if (!work.exec1("select pg_promote()")[0].as<bool>())
    throw std::runtime_error("the replica stays a replica");
}

}  // namespace lockstep::chaos
