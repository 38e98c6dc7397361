#include "replicator/elasticsearch/bulk/bulk_request.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/json_string.h"

namespace lockstep {
namespace {

constexpr std::size_t kMaxFrame = 128;  // bytes of an action line besides its names

// The common beginning of the action lines into one alias.
std::string action_begin(BulkAction action, std::string_view alias) {
  std::string begin = action == BulkAction::kIndex ? "{\"index\":{\"_index\":" : "{\"delete\":{\"_index\":";
  append_json_string(begin, alias);
  return begin + ",\"_id\":";
}

void append_key(std::string& body, const DocumentKey& key) {
  append_json_string(body, key.id.text);
  if (key.routing.empty()) return;
  body += ",\"routing\":";
  append_json_string(body, key.routing);
}

// A body that grows holds itself twice for a moment. Reserved, unwritten bytes take no memory.
void make_room(std::string& body, std::size_t more) {
  constexpr std::size_t kLarge = 64 * 1024;    // smaller ones are mostly all that a step has
  constexpr std::size_t kFull = 2'304 * 1024;  // bulk_bytes by default, and a document that passes it
  const std::size_t needed = body.size() + more;
  if (needed > kLarge && needed > body.capacity()) body.reserve(std::max(kFull, needed));
}

/// A line feed would end the line. In valid JSON it can only be white space between tokens.
void append_in_one_line(std::string& body, std::string_view json) {
  const std::size_t begin = body.size();
  body += json;
  char* at = body.data() + begin;
  char* const end = body.data() + body.size();
  while ((at = static_cast<char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr) {
    *at++ = ' ';
  }
  body += '\n';
}

}  // namespace

void append_action(std::string& body, BulkAction action, std::string_view alias, const DocumentKey& key) {
  body += action_begin(action, alias);
  append_key(body, key);
}

void BulkRequest::index(std::string_view alias, DocumentKey key, DocumentVersion version,
                        std::string_view json) {
  begin_item(alias, key);
  const std::size_t begin = body_.size();
  make_room(body_, json.size() + key.id.text.size() + key.routing.size() + alias.size() + kMaxFrame);
  append_action_line(index_begin_, key, version);
  append_in_one_line(body_, json);
  items_.push_back({BulkAction::kIndex, std::move(key), version, begin});
}

void BulkRequest::remove(std::string_view alias, DocumentKey key, DocumentVersion version) {
  begin_item(alias, key);
  const std::size_t begin = body_.size();
  append_action_line(delete_begin_, key, version);
  items_.push_back({BulkAction::kDelete, std::move(key), version, begin});
}

void BulkRequest::begin_item(std::string_view alias, const DocumentKey& key) {
  assert(!key.id.text.empty() && key.id.text.size() <= kMaxIdBytes);
  if (!items_.empty()) {
    if (alias != alias_ || key.index != index()) throw std::logic_error("a bulk request of two indices");
    return;
  }
  alias_ = alias;
  index_begin_ = action_begin(BulkAction::kIndex, alias);
  delete_begin_ = action_begin(BulkAction::kDelete, alias);
}

void BulkRequest::append_action_line(const std::string& begin, const DocumentKey& key,
                                     DocumentVersion version) {
  body_ += begin;
  append_key(body_, key);
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, version.value()).ptr;
  body_ += ",\"version\":";
  body_.append(digits, end);
  body_ += ",\"version_type\":\"external_gte\"}}\n";
}

bool BulkRequest::needs_guard() const {
  return !items_.empty() && std::none_of(items_.begin(), items_.end(), [](const BulkItem& item) {
    return item.action == BulkAction::kIndex;
  });
}

std::string BulkRequest::guard_lines() const {
  std::string lines = "{\"index\":{\"_index\":";
  append_json_string(lines, alias_);
  return lines + ",\"_id\":\"lockstep-guard\",\"if_seq_no\":9007199254740991,\"if_primary_term\":1}}\n{}\n";
}

std::string_view BulkRequest::lines(std::size_t item) const {
  assert(item < items_.size());
  const std::size_t begin = items_[item].begin;
  const std::size_t end = item + 1 < items_.size() ? items_[item + 1].begin : body_.size();
  return std::string_view(body_).substr(begin, end - begin);
}

BulkRequest BulkRequest::split_off(const std::vector<std::size_t>& items) {
  BulkRequest part = subset(items);
  std::size_t kept = 0;
  std::size_t end = 0;  // of the kept items
  auto leaves = items.begin();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (leaves != items.end() && *leaves == i) {
      ++leaves;
      continue;
    }
    const std::string_view its_lines = lines(i);
    std::memmove(body_.data() + end, its_lines.data(), its_lines.size());
    const std::size_t begin = std::exchange(end, end + its_lines.size());
    if (kept != i) items_[kept] = std::move(items_[i]);
    items_[kept++].begin = begin;
  }
  items_.resize(kept);
  body_.resize(end);
  return part;
}

BulkRequest BulkRequest::subset(const std::vector<std::size_t>& items) const {
  std::size_t bytes = 0;
  for (const std::size_t item : items) bytes += lines(item).size();
  BulkRequest part;
  part.alias_ = alias_;
  part.index_begin_ = index_begin_;
  part.delete_begin_ = delete_begin_;
  part.body_.reserve(bytes);
  part.items_.reserve(items.size());
  for (const std::size_t item : items) {
    part.items_.push_back(items_[item]);
    part.items_.back().begin = part.body_.size();
    part.body_ += lines(item);
  }
  return part;
}

}  // namespace lockstep
