#include "tests/proof/lock_harness/tree_checker.h"

#include <algorithm>

#include "replicator/locks/sweep.h"
#include "replicator/tree/tree.h"
#include "tests/proof/lock_harness/clear_up.h"
#include "tests/proof/lock_harness/naive_tree.h"
#include "tests/proof/lock_harness/tree_world.h"
#include "tests/support/elasticsearch_index.h"

namespace lockstep::harness {
namespace {

using nlohmann::json;
using Staged = std::map<std::string, std::string>;

constexpr std::chrono::minutes kPatience{3};
constexpr int kPage = 5'000;

/// All documents of an index, as the hits of a search.
std::vector<json> all_hits(support::ElasticsearchServer& server, const std::string& index) {
  server.expect("POST", "/" + index + "/_refresh");
  std::vector<json> hits;
  json reply = server.expect("POST", "/" + index + "/_search?scroll=1m",
                             json{{"size", kPage}, {"sort", {"_doc"}}}.dump());
  while (!reply.at("hits").at("hits").empty()) {
    for (json& hit : reply.at("hits").at("hits")) hits.push_back(std::move(hit));
    reply = server.expect("POST", "/_search/scroll",
                          json{{"scroll", "1m"}, {"scroll_id", reply.at("_scroll_id")}}.dump());
  }
  return hits;
}

/// The operations that are done, in the order of their commits.
std::vector<Operation> read_history(LockManager& locks, const std::vector<json>& entries,
                                    Findings& findings) {
  std::vector<Operation> done;
  for (const json& entry : entries) {
    if (entry.at("_id") == "lockstep-token") continue;  // which counts the tokens
    ++findings.opened;
    if (entry.at("_source").at("state") == "aborted") {
      ++findings.aborted;
      continue;
    }
    const std::optional<Operation> operation = locks.find_operation(entry.at("_id"));
    if (!operation || operation->state != OperationState::kDone) continue;
    if (operation->epoch > 1) ++findings.adopted;
    done.push_back(*operation);
  }
  findings.done = std::ssize(done);
  std::sort(done.begin(), done.end(),
            [](const Operation& a, const Operation& b) { return a.commit < b.commit; });
  return done;
}

bool exclude_each_other(const Operation& a, const Operation& b) {
  return std::any_of(a.locks.begin(), a.locks.end(), [&](const LockRequest& one) {
    return std::any_of(b.locks.begin(), b.locks.end(), [&](const LockRequest& other) {
      return one.name == other.name &&
             (one.mode == LockMode::kExclusive || other.mode == LockMode::kExclusive);
    });
  });
}

std::string text_of(const Operation& operation) {
  const OperationIntent& intent = operation.intent;
  return operation.id + " (" + intent.kind + " " + intent.from + " " + intent.to + ", commit " +
         std::to_string(operation.commit) + ")";
}

/// An entry's sequence number is that of its last write, which ended the operation.
void check_apart(const std::vector<Operation>& done, Findings& findings) {
  for (auto one = done.begin(); one != done.end(); ++one) {
    for (auto later = one + 1; later != done.end() && later->commit < one->version.number; ++later) {
      if (!exclude_each_other(*one, *later)) continue;
      findings.violations.push_back("apart: " + text_of(*later) + " committed before " + text_of(*one) +
                                    " had ended");
    }
  }
}

/// Everything at or below a path.
std::vector<std::string> at_or_below(const Files& files, const std::string& path) {
  std::vector<std::string> found;
  for (auto at = files.lower_bound(path); at != files.end() && at->first.starts_with(path); ++at) {
    if (at->first == path || at->first[path.size()] == '/') found.push_back(at->first);
  }
  return found;
}

/// Replays the operation on the files. Returns why that is impossible; empty when it is not.
std::string replay(Files& files, const Operation& operation, const Staged& staged) {
  const std::string& from = operation.intent.from;
  if (operation.intent.kind == "put") {
    const auto contents = staged.find(operation.id);
    if (contents == staged.end()) return "nobody staged its contents";
    File& file = files[from];
    if (file.id.empty()) file.id = operation.id;
    file.contents = contents->second;
    return "";
  }
  const std::vector<std::string> concerned = at_or_below(files, from);
  if (concerned.empty()) return "there was nothing at " + from;
  const std::string& to = operation.intent.to;
  if (operation.intent.kind == "mv" && !at_or_below(files, to).empty()) return "there was something at " + to;
  for (const std::string& path : concerned) {
    auto file = files.extract(path);
    if (operation.intent.kind != "mv") continue;
    file.key() = to + path.substr(from.size());
    files.insert(std::move(file));
  }
  return "";
}

void check_replayed(const std::vector<Operation>& done, const std::vector<json>& stored, const Staged& staged,
                    Findings& findings) {
  Files files = first_files();
  for (const Operation& operation : done) {
    const std::string impossible = replay(files, operation, staged);
    if (!impossible.empty())
      findings.violations.push_back("replayed: " + text_of(operation) + ": " + impossible);
  }
  for (const json& hit : stored) {
    const json& source = hit.at("_source");
    const std::string path = joined_path(source.value("path", ""), source.value("name", ""));
    const File is{hit.at("_id"), source.value("contents", "")};
    const auto wanted = files.find(path);
    if (wanted == files.end() || wanted->second != is) {
      findings.violations.push_back(
          "replayed: " + path + " is document " + is.id + " with \"" + is.contents + "\", and should be " +
          (wanted == files.end() ? "nothing"
                                 : wanted->second.id + " with \"" + wanted->second.contents + "\""));
    }
    if (wanted != files.end()) files.erase(wanted);
  }
  for (const auto& [path, file] : files)
    findings.violations.push_back("replayed: " + path + ", document " + file.id + ", is missing");
}

}  // namespace

Findings check_tree(const World& world, const Staged& staged) {
  const Config config = config_of(world);
  const std::unique_ptr<LockManager> locks = open_patient_locks_of(world);
  const std::unique_ptr<Tree> tree = open_tree(config, *locks);
  tree->prepare();
  if (world.without == Without::kNothing) {
    clear_up(*locks, kPatience, [&] { (void)tree->recover(); });
  } else if (world.without != Without::kRecovery) {
    DeclareDone declare_done;
    clear_up(*locks, kPatience, [&] { sweep(*locks, declare_done); });
  }

  Findings findings;
  support::ElasticsearchServer server;
  check_left(*locks, findings.violations);
  const std::vector<Operation> done =
      read_history(*locks, all_hits(server, world.alias + "-journal"), findings);
  check_apart(done, findings);
  check_replayed(done, all_hits(server, config.tree.index), staged, findings);
  return findings;
}

}  // namespace lockstep::harness
