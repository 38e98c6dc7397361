#include "replicator/elasticsearch/admin/temporary_index.h"

#include <spdlog/spdlog.h>

#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/scheduler.h"

namespace lockstep {

std::string random_name(const std::string& prefix) {
  static constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::string name = prefix;
  for (int i = 0; i < 12; ++i) name += kLetters[random_seed() % (sizeof kLetters - 1)];
  return name;
}

TemporaryIndex::~TemporaryIndex() {
  try {
    client_.send("deleting index " + name_, "DELETE", "/" + percent_encoded(name_), {}, {404});
  } catch (const Error& error) {
    // The caller may have a more useful error; but only this one names the index that is left.
    spdlog::warn("{}; delete it by hand", error.what());
  }
}

}  // namespace lockstep
