#include "tests/proof/lock_harness/document_checker.h"

#include <nlohmann/json.hpp>

#include "replicator/locks/sweep.h"
#include "tests/proof/lock_harness/clear_up.h"
#include "tests/proof/lock_harness/document_world.h"
#include "tests/support/elasticsearch_index.h"

namespace lockstep::harness {
namespace {

using nlohmann::json;

constexpr std::chrono::minutes kPatience{3};

void check_log(const std::string& id, const json& document, const std::set<std::string>& acknowledged,
               std::vector<std::string>& violations) {
  FencingToken before = 0;
  std::set<std::string> entries;
  for (const json& write : document.at("log")) {
    const auto token = write.at(0).get<FencingToken>();
    const auto entry = write.at(1).get<std::string>();
    if (token < before) {
      violations.push_back("ordered: " + id + ": " + entry + " with the token " + std::to_string(token) +
                           " was written after " + std::to_string(before));
    }
    if (!entries.insert(entry).second) violations.push_back("once: " + id + ": " + entry + " is there twice");
    before = token;
  }
  if (document.at("fence") != before) {
    violations.push_back("ordered: " + id + " has the fence " + document.at("fence").dump() + " and not " +
                         std::to_string(before));
  }
  for (const std::string& entry : acknowledged) {
    if (!entries.contains(entry)) violations.push_back("kept: " + id + ": " + entry + " is missing");
  }
}

}  // namespace

Findings check_documents(const World& world, const Heard& heard) {
  const std::unique_ptr<LockManager> locks = open_patient_locks_of(world);
  NoRollForward nothing;
  clear_up(*locks, kPatience, [&] { sweep(*locks, nothing); });

  Findings findings;
  check_left(*locks, findings.violations);
  findings.opened = heard.opened;
  findings.done = heard.done;
  findings.aborted = heard.opened - heard.done;
  support::ElasticsearchServer server;
  for (const std::string& id : document_ids()) {
    const json found = server.expect("GET", "/" + document_index(world) + "/_doc/" + id);
    const auto acknowledged = heard.written.find(id);
    check_log(id, found.at("_source"),
              acknowledged == heard.written.end() ? std::set<std::string>() : acknowledged->second,
              findings.violations);
  }
  return findings;
}

}  // namespace lockstep::harness
