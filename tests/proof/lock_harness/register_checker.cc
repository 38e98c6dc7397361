#include "tests/proof/lock_harness/register_checker.h"

#include <algorithm>
#include <map>

#include "replicator/locks/sweep.h"
#include "tests/proof/lock_harness/clear_up.h"
#include "tests/proof/lock_harness/register_client.h"

namespace lockstep::harness {
namespace {

constexpr std::chrono::seconds kPatience{60};

/// An operation of the history.
struct Past {
  Operation entry;
  std::vector<Register> registers;
  std::vector<Write> writes;
};

void check_whole(const Past& past, std::vector<std::string>& violations) {
  const std::string& id = past.entry.id;
  if (past.entry.state != OperationState::kDone) {
    if (!past.writes.empty()) violations.push_back("whole: " + id + " was not done, and has written");
    return;
  }
  for (const Register at : past.registers) {
    const bool written =
        std::any_of(past.writes.begin(), past.writes.end(), [&](const Write& each) { return each.at == at; });
    if (!written) violations.push_back("whole: " + id + " is done without register " + std::to_string(at));
  }
}

bool share_a_register(const Past& a, const Past& b) {
  return std::any_of(a.registers.begin(), a.registers.end(), [&](Register at) {
    return std::find(b.registers.begin(), b.registers.end(), at) != b.registers.end();
  });
}

/// REQUIRES: in the order of the commits.
void check_apart(const std::vector<const Past*>& done, std::vector<std::string>& violations) {
  for (std::size_t i = 0; i < done.size(); ++i) {
    for (std::size_t j = i + 1; j < done.size(); ++j) {
      if (done[i]->writes.empty() || done[j]->writes.empty() || !share_a_register(*done[i], *done[j]))
        continue;
      if (done[i]->writes.back().number > done[j]->writes.front().number) {
        violations.push_back("apart: " + done[i]->entry.id + " wrote after " + done[j]->entry.id +
                             " had begun to, which committed later");
      }
    }
  }
}

void check_replayed(const std::vector<const Past*>& done, RegisterStore& store,
                    std::vector<std::string>& violations) {
  std::map<Register, std::string> replayed;
  for (const Past* past : done) {
    for (const Register at : past->registers) replayed[at] = past->entry.id;
  }
  for (Register at = 0; at < kRegisters; ++at) {
    const std::string stored = store.read(at).operation;
    if (stored == replayed[at]) continue;
    violations.push_back("replayed: register " + std::to_string(at) + " holds " + stored + " and not " +
                         replayed[at]);
  }
}

}  // namespace

Findings check_registers(const World& world) {
  RegisterStore store(world.database);
  const std::unique_ptr<LockManager> locks = open_patient_locks_of(world);
  if (world.without != Without::kRecovery) {
    WriteRegisters roll(store, world.without);
    clear_up(*locks, kPatience, [&] { sweep(*locks, roll); });
  }

  Findings findings;
  check_left(*locks, findings.violations);
  std::map<std::string, Past> history;
  for (const RegisterStore::Announced& each : store.announced()) {
    ++findings.opened;
    const std::optional<Operation> entry = locks->find_operation(each.operation);
    if (!entry) {
      findings.violations.push_back("whole: " + each.operation + " is not in the journal");
      continue;
    }
    history[each.operation] = {*entry, each.registers, {}};
  }
  for (const Write& write : store.writes()) history[write.operation].writes.push_back(write);
  std::vector<const Past*> done;
  for (const auto& [id, past] : history) {
    check_whole(past, findings.violations);
    if (past.entry.state == OperationState::kAborted) ++findings.aborted;
    if (past.entry.state != OperationState::kDone) continue;
    done.push_back(&past);
    if (past.entry.epoch > 1) ++findings.adopted;
  }
  findings.done = static_cast<std::int64_t>(done.size());
  std::sort(done.begin(), done.end(),
            [](const Past* a, const Past* b) { return a->entry.commit < b->entry.commit; });
  check_apart(done, findings.violations);
  check_replayed(done, store, findings.violations);
  return findings;
}

}  // namespace lockstep::harness
