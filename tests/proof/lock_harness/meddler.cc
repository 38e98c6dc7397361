#include "tests/proof/lock_harness/meddler.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "replicator/pause.h"
#include "tests/proof/lock_harness/document_world.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/http_stream.h"

namespace lockstep::harness {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr int kOk = 200;
/// So far ahead of all others is the token of a restored document.
constexpr std::int64_t kAhead = 1'000'000;

}  // namespace

Meddler::Meddler(const World& world, std::uint64_t seed)
    : world_(world), random_(seed), thread_([this](const std::stop_token& stop) { meddle(stop); }) {}

Meddler::Done Meddler::stop() {
  thread_.request_stop();
  thread_.join();
  return done_;
}

void Meddler::meddle(const std::stop_token& stop) {
  while (pause(milliseconds(1'000 + random_() % 3'000), stop)) {
    try {
      random_() % 2 == 0 ? delete_indices() : restore_a_document();
    } catch (const support::HttpStreamError&) {
      // The server is away.
    }
  }
}

void Meddler::delete_indices() {
  const std::uint64_t lot = random_() % 3;
  support::ElasticsearchServer server;
  for (const std::string& index : {config_of(world_).locks.index, world_.alias + "-journal"}) {
    const bool spared = (index.ends_with("-journal") && lot == 0) || (index.ends_with("-locks") && lot == 1);
    if (!spared && server.request("DELETE", "/" + index).status == kOk) ++done_.deleted;
  }
}

void Meddler::restore_a_document() {
  const std::vector<std::string> ids = document_ids();
  const std::string path = "/" + document_index(world_) + "/_update/" + ids[random_() % ids.size()];
  const json script = {{"source",
                        "ctx._source.fence += params.ahead;"
                        "ctx._source.log.add([ctx._source.fence, 'restored ' + params.number])"},
                       {"params", {{"ahead", kAhead}, {"number", done_.restored}}}};
  const auto reply = support::ElasticsearchServer().request("POST", path + "?retry_on_conflict=50",
                                                            json{{"script", script}}.dump());
  if (reply.status == kOk) ++done_.restored;
}

}  // namespace lockstep::harness
