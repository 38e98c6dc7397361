#include "replicator/elasticsearch/admin/temporary_index.h"

#include <spdlog/spdlog.h>

#include <random>

#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {

std::string random_name(const std::string& prefix) {
  static constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> letter(0, sizeof kLetters - 2);
  std::string name = prefix;
  for (int i = 0; i < 12; ++i) name += kLetters[letter(random)];
  return name;
}

TemporaryIndex::~TemporaryIndex() {
  try {
    client_.send("deleting index " + name_, "DELETE", "/" + percent_encoded(name_), {}, {404});
  } catch (const Error& error) {
    // The caller may have a more useful error; but nobody else says that the index is left.
    spdlog::warn("{}; delete it by hand", error.what());
  }
}

}  // namespace lockstep
