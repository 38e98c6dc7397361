#include "tests/proof/lock_harness/document_world.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/support/elasticsearch_index.h"
#include "tests/support/program.h"

namespace lockstep::harness {
namespace {

using nlohmann::json;

constexpr int kDocuments = 6;

}  // namespace

std::vector<std::string> document_ids() {
  std::vector<std::string> ids;
  for (int i = 0; i < kDocuments; ++i) ids.push_back("d" + std::to_string(i));
  return ids;
}

std::string document_index(const World& world) {
  return world.alias + "-documents";
}

void write_documents(const World& world) {
  support::ElasticsearchServer server;
  const std::string index = "/" + document_index(world);
  server.expect("PUT", index, R"({"settings": {"number_of_shards": 1, "auto_expand_replicas": "0-2"},
                                  "mappings": {"dynamic": false, "properties": {"fence": {"type": "long"}}}})");
  for (const std::string& id : document_ids())
    server.expect("PUT", index + "/_doc/" + id, R"({"fence": 0, "log": []})");
}

std::vector<Command> document_clients(const World& world, const std::string& config) {
  const auto lease = std::chrono::duration_cast<std::chrono::duration<double>>(config_of(world).locks.lease);
  std::vector<std::string> options = {"--index",   config_of(world).locks.index,
                                      "--data",    document_index(world),
                                      "--lease",   std::to_string(lease.count()),
                                      "--program", support::lockstep_program(),
                                      "--config",  config};
  for (const std::string& url : world.urls) options.insert(options.end(), {"--url", url});
  for (const std::string& id : document_ids()) options.insert(options.end(), {"--document", id});
  if (world.without == Without::kFencing) options.insert(options.end(), {"--without", "fencing"});

  std::vector<Command> commands;
  for (const std::string kind : {"package", "program"}) {
    Command command{"python3",
                    {"-B", LOCKSTEP_SOURCE_DIR "/tests/proof/lock_harness/document_client.py", "--as", kind}};
    command.arguments.insert(command.arguments.end(), options.begin(), options.end());
    commands.push_back(std::move(command));
  }
  return commands;
}

std::string configuration_text(const World& world) {
  const Config config = config_of(world);
  return "[elasticsearch]\nurls = " + json(world.urls).dump() + "\n[locks]\nindex = \"" + config.locks.index +
         "\"\nlease = \"" + std::to_string(config.locks.lease.count()) + "ms\"\n";
}

}  // namespace lockstep::harness
