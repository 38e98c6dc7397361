#include "replicator/service/live_config.h"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "replicator/error.h"
#include "replicator/listed.h"
#include "replicator/log/log.h"

namespace lockstep {
namespace {

std::vector<std::string> aliases_of(const Config& config) {
  std::vector<std::string> aliases;
  for (const IndexConfig& index : config.indices) aliases.push_back(index.alias);
  return aliases;
}

}  // namespace

std::vector<std::string> needs_restart(const Config& running, const Config& read) {
  std::vector<std::string> keys;
  if (running.pipeline != read.pipeline) keys.emplace_back("pipeline");
  if (running.source.url != read.source.url || running.source.database != read.source.database)
    keys.emplace_back("source.url");
  if (running.source.schema != read.source.schema) keys.emplace_back("source.schema");
  if (running.http.listen != read.http.listen) keys.emplace_back("http.listen");
  if (running.slo.lag != read.slo.lag) keys.emplace_back("slo.lag");
  if (running.log.format != read.log.format) keys.emplace_back("log.format");
  if (aliases_of(running) != aliases_of(read)) keys.emplace_back("the aliases of [[index]]");
  return keys;
}

LiveConfig::LiveConfig(Config config, MakeFactory make_factory)
    : make_factory_(std::move(make_factory)), values_(made(std::move(config))) {
  values_.replaced = replaced_.get_token();
}

LiveConfig::Values LiveConfig::values() const {
  const MutexLock lock(mutex_);
  return values_;
}

void LiveConfig::reload(const std::function<Config()>& read) {
  const MutexLock one_at_a_time(reloading_);
  try {
    const Values before = values();
    Values after = made(read());
    if (const auto keys = needs_restart(*before.config, *after.config); !keys.empty())
      throw UsageError("restart the service to change " + listed(keys));
    set_log_level(after.config->log.level);
    spdlog::info(
        "reloaded: requests in flight are finished, then replication begins again with the new values");
    std::stop_source replaced;
    {
      const MutexLock lock(mutex_);
      std::swap(replaced, replaced_);
      after.replaced = replaced_.get_token();
      values_ = std::move(after);
    }
    replaced.request_stop();
  } catch (const std::exception& error) {
    const LogField field("error", "configuration");
    spdlog::error("not reloaded, the service continues as before: {}", error.what());
  }
}

LiveConfig::Values LiveConfig::made(Config config) const {
  auto shared = std::make_shared<const Config>(std::move(config));
  BulkWriter::TransportFactory make_transport = make_factory_(shared->elasticsearch);
  return {std::move(shared), std::move(make_transport), {}};
}

}  // namespace lockstep
