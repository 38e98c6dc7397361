// Locks with stored scripts: the server judges each request next to the document, in one round trip.
#include <algorithm>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/locks/backends/elasticsearch/bulk_call.h"
#include "replicator/locks/backends/elasticsearch/lock_documents.h"
#include "replicator/locks/backends/elasticsearch/lock_json.h"
#include "replicator/locks/backends/elasticsearch/lock_scripts.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr int kMaxCollisions = 8;     // bulks in which items collide with other writers
constexpr int kRetryOnConflict = 10;  // in the server; more than there usually are sharers
// Few enough that a busy server answers well within a third of a lease.
constexpr std::size_t kItemsOfABulk = 500;

/// The same script with the same parameters for each lock.
auto script_body(const char* id, const json& parameters) {
  return [id, parameters](const LockRequest&) {
    return json{{"script", {{"id", id}, {"params", parameters}}}};
  };
}

class ScriptedLockDocuments final : public LockDocuments {
 public:
  using LockDocuments::LockDocuments;

  std::optional<Refusal> acquire(const LockSet& locks, const Grant& grant) override {
    std::optional<Refusal> first;
    const auto body = [&](const LockRequest& request) {
      json parameters = {{"holder", grant.holder},        {"under", grant.under},
                         {"mode", text_of(request.mode)}, {"lease", grant.lease.count()},
                         {"place", grant.place.count()},  {"name", nullptr}};
      if (is_shortened(request.name)) parameters["name"] = request.name.text();
      return json{{"scripted_upsert", true},
                  {"upsert", json::object()},
                  // With a filter the reply has the document as the script left it.
                  {"_source", json::array({"*"})},
                  {"script", {{"id", script_id::kAcquire}, {"params", std::move(parameters)}}}};
    };
    run("taking locks", locks, body, [&](const LockRequest& request, const BulkOutcome& outcome) {
      if (!first) first = refusal(request, outcome, grant);
      return !first;
    });
    return first;
  }

  void release(const LockSet& locks, const Leave& leave) override {
    const LockSet reversed(locks.rbegin(), locks.rend());
    const json parameters = {
        {"holder", leave.holder}, {"keep_place", false}, {"only_expired", leave.only_expired}, {"place", 0}};
    run("releasing locks", reversed, script_body(script_id::kRelease, parameters), ignored);
  }

  void give_back(const LockSet& locks, const LockName& at, const Grant& grant) override {
    const LockSet reversed(locks.rbegin(), locks.rend());
    const auto body = [&](const LockRequest& request) {
      const bool first = request.name < at && request.mode == LockMode::kExclusive;
      return json{{"script",
                   {{"id", script_id::kRelease},
                    {"params",
                     {{"holder", grant.holder},
                      {"keep_place", request.name == at},
                      {"only_expired", false},
                      {"place", first ? grant.place.count() : 0}}}}}};
    };
    run("giving locks back", reversed, body, ignored);
  }

  void downgrade(const LockName& name, const std::string& holder) override {
    run("downgrading a lock", {{name, LockMode::kShared}},
        script_body(script_id::kDowngrade, {{"holder", holder}}), ignored);
  }

  std::optional<LockName> renew(const LockSet& locks, const std::string& holder,
                                std::chrono::milliseconds lease) override {
    std::optional<LockName> gone;
    run("renewing locks", locks,
        script_body(script_id::kRenew, {{"holder", holder}, {"lease", lease.count()}}),
        [&](const LockRequest& request, const BulkOutcome& outcome) {
          if (!gone && outcome.result != "updated") gone = request.name;
          return true;
        });
    return gone;
  }

 private:
  static bool ignored(const LockRequest&, const BulkOutcome&) { return true; }

  /// Sends an update for each lock, in their order, and again for those that collided with other writers.
  /// `take` judges each outcome; when it returns false, no further bulk is sent.
  template <class Body, class Take>
  void run(const std::string& doing, LockSet locks, const Body& body, const Take& take) {
    for (int collisions = 0; !locks.empty(); ++collisions) {
      if (collisions == kMaxCollisions) {
        throw Error({doing, "the lock " + locks.front().name.text() + " is changed by too many at once",
                     "try again", Retry::kLater, Server::kElasticsearch});
      }
      LockSet again;
      for (std::size_t begin = 0; begin < locks.size(); begin += kItemsOfABulk) {
        const std::size_t end = std::min(locks.size(), begin + kItemsOfABulk);
        const LockSet part(locks.begin() + static_cast<std::ptrdiff_t>(begin),
                           locks.begin() + static_cast<std::ptrdiff_t>(end));
        if (!run_part(doing, part, body, take, again)) return;
      }
      locks = std::move(again);
    }
  }

  template <class Body, class Take>
  bool run_part(const std::string& doing, const LockSet& part, const Body& body, const Take& take,
                LockSet& again) {
    BulkCall bulk(index());
    for (const LockRequest& request : part) {
      bulk.add("update", document_id(request.name), {{"retry_on_conflict", kRetryOnConflict}}, body(request));
    }
    const std::vector<BulkOutcome> outcomes = bulk.send(client(), doing);
    bool go_on = true;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (outcomes[i].status == kConflict) {
        again.push_back(part[i]);
      } else {
        go_on = take(part[i], outcomes[i]) && go_on;
      }
    }
    return go_on;
  }

  /// None if the lock was granted.
  static std::optional<Refusal> refusal(const LockRequest& request, const BulkOutcome& outcome,
                                        const Grant& grant) {
    const json& source = outcome.source;
    const bool held = object_at(source, "holders").contains(grant.holder);
    const bool strong = request.mode == LockMode::kShared || text_at(source, "lock_type") == "exclusive";
    const bool written = outcome.result == "created" || outcome.result == "updated";
    if (written && held && strong) return std::nullopt;
    Refusal refusal{
        read_lock(request.name.text(), source).value_or(LockState{request.name, LockMode::kShared})};
    refusal.lock.name = request.name;
    std::vector<LockHolder>& waiting = refusal.lock.waiting;
    waiting = read_waiting(request.name.text(), source);
    const auto me = std::find_if(waiting.begin(), waiting.end(),
                                 [&](const LockHolder& each) { return each.id == grant.holder; });
    if (const auto now = integer_at(source, "now")) {
      refusal.now = server_time(*now);
      refusal.queued = text_at(source, "answer") == "queued";
    } else if (me != waiting.end()) {
      // The refusal gave us our place, which began at the server's time.
      refusal.now = *me->until - grant.place;
      const bool exclusive =
          request.mode == LockMode::kExclusive || refusal.lock.mode == LockMode::kExclusive;
      refusal.queued = refusal.lock.count == 0 || !exclusive;
    }
    if (me != waiting.end()) {
      refusal.ahead = static_cast<std::size_t>(me - waiting.begin());
      waiting.erase(me);
    }
    return refusal;
  }
};

}  // namespace

std::unique_ptr<LockStore> scripted_lock_documents(ElasticsearchClient& client, std::string index) {
  return std::make_unique<ScriptedLockDocuments>(client, std::move(index));
}

}  // namespace lockstep
