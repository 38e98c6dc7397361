#include "replicator/locks/lock_name.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "replicator/error.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

constexpr std::string_view kGlobal = "global";

/// FNV-1a of 64 bits (Fowler, Noll, Vo).
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

/// For messages. Replaces invalid UTF-8.
std::string printable(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string_view text_of(LockMode mode) {
  return mode == LockMode::kShared ? "shared" : "exclusive";
}

std::optional<LockMode> lock_mode(std::string_view text) {
  if (text == text_of(LockMode::kShared)) return LockMode::kShared;
  if (text == text_of(LockMode::kExclusive)) return LockMode::kExclusive;
  return std::nullopt;
}

LockName::LockName(std::string text) : text_(std::move(text)) {
  if (text_.empty()) throw UsageError("the name of a lock is empty; give it a name");
  const bool control =
      std::any_of(text_.begin(), text_.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
  if (control || !is_utf8(text_)) {
    throw UsageError("the name of the lock " + printable(text_) +
                     " has control characters or is not UTF-8; give it another name");
  }
}

std::string shortened_name(const LockName& name, std::size_t max_bytes) {
  const std::string& text = name.text();
  if (text.size() <= max_bytes) return text;
  std::array<char, 24> hash{};
  const int length =
      std::snprintf(hash.data(), hash.size(), "#%016llx", static_cast<unsigned long long>(hash_of(text)));
  std::size_t end = max_bytes - static_cast<std::size_t>(length);
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + hash.data();
}

LockSet lock_set(std::vector<LockRequest> requests) {
  // Per name the exclusive request first: unique() keeps the first.
  std::sort(requests.begin(), requests.end(), [](const LockRequest& a, const LockRequest& b) {
    return a.name != b.name ? a.name < b.name : a.mode > b.mode;
  });
  const auto same_name = [](const LockRequest& a, const LockRequest& b) { return a.name == b.name; };
  requests.erase(std::unique(requests.begin(), requests.end(), same_name), requests.end());
  return requests;
}

LockSet global_lock() {
  return {{LockName(std::string(kGlobal)), LockMode::kExclusive}};
}

LockSet document_locks(const std::vector<std::string>& ids) {
  std::vector<LockRequest> requests;
  requests.reserve(ids.size());
  for (const std::string& id : ids) requests.push_back({LockName(id), LockMode::kExclusive});
  return lock_set(std::move(requests));
}

LockSet tree_locks(const std::vector<std::string>& paths) {
  std::vector<LockRequest> requests;
  for (const std::string& given : paths) {
    const std::string path = canonical_path(given);
    for (std::string& above : ancestors(path))
      requests.push_back({LockName(std::move(above)), LockMode::kShared});
    requests.push_back({LockName(path), LockMode::kExclusive});
  }
  return lock_set(std::move(requests));
}

std::string canonical_path(std::string_view path) {
  if (path.empty() || path.front() != '/')
    throw UsageError("the path " + printable(path) + " does not begin with \"/\"; write it in full");
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  if (path == "/") return "/";
  for (std::size_t begin = 1; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view segment = path.substr(begin, end - begin);
    if (segment.empty() || segment == "." || segment == "..") {
      throw UsageError("the path " + printable(path) + " has the segment " + printable(segment) +
                       "; write it without");
    }
    begin = end + 1;
  }
  return std::string(path);
}

std::vector<std::string> ancestors(std::string_view path) {
  std::vector<std::string> above;
  if (path == "/") return above;
  above.emplace_back("/");
  for (std::size_t slash = path.find('/', 1); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    above.emplace_back(path.substr(0, slash));
  }
  return above;
}

}  // namespace lockstep
