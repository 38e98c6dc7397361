#include "replicator/locks/operation.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <random>

#include "replicator/wall_time.h"

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 4> kStates = {"pending", "running", "done", "aborted"};

std::string host_name() {
  std::array<char, 64> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "host";
  std::string text;
  for (const char c : std::string_view(name.data())) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    text += plain ? c : '_';
  }
  return text.empty() ? "host" : text;
}

}  // namespace

std::string text_of(ServerTime time) {
  return utc_text(time);
}

std::string new_operation_id() {
  std::random_device random;
  std::array<char, 32> tail{};
  std::snprintf(tail.data(), tail.size(), "-%ld-%08x%08x", static_cast<long>(::getpid()), random(), random());
  return host_name() + tail.data();
}

std::string_view text_of(OperationState state) {
  return kStates.at(static_cast<std::size_t>(state));
}

std::optional<OperationState> operation_state(std::string_view text) {
  for (std::size_t i = 0; i < kStates.size(); ++i) {
    if (kStates.at(i) == text) return static_cast<OperationState>(i);
  }
  return std::nullopt;
}

}  // namespace lockstep
