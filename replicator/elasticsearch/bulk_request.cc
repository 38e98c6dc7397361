#include "replicator/elasticsearch/bulk_request.h"

#include <cassert>
#include <charconv>
#include <cstring>
#include <utility>

#include "replicator/elasticsearch/text_encoding.h"

namespace lockstep {
namespace {

void append_action_line(std::string& body, std::string_view action, std::string_view alias,
                        const DocumentKey& key, DocumentVersion version) {
  body += "{\"";
  body += action;
  body += "\":{\"_index\":";
  append_json_string(body, alias);
  body += ",\"_id\":";
  append_json_string(body, key.id);
  if (!key.routing.empty()) {
    body += ",\"routing\":";
    append_json_string(body, key.routing);
  }
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, version.value()).ptr;
  body += ",\"version\":";
  body.append(digits, end);
  body += ",\"version_type\":\"external_gte\"}}\n";
}

/// A line feed would end the line of the bulk; in valid JSON it can only be white space between tokens.
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

void BulkRequest::index(std::string_view alias, DocumentKey key, DocumentVersion version,
                        std::string_view json) {
  assert(!key.id.empty() && key.id.size() <= kMaxIdBytes);
  const std::size_t begin = body_.size();
  append_action_line(body_, "index", alias, key, version);
  append_in_one_line(body_, json);
  items_.push_back({BulkAction::kIndex, std::move(key), version, begin});
}

void BulkRequest::remove(std::string_view alias, DocumentKey key, DocumentVersion version) {
  assert(!key.id.empty() && key.id.size() <= kMaxIdBytes);
  const std::size_t begin = body_.size();
  append_action_line(body_, "delete", alias, key, version);
  items_.push_back({BulkAction::kDelete, std::move(key), version, begin});
}

std::string_view BulkRequest::lines(std::size_t item) const {
  assert(item < items_.size());
  const std::size_t begin = items_[item].begin;
  const std::size_t end = item + 1 < items_.size() ? items_[item + 1].begin : body_.size();
  return std::string_view(body_).substr(begin, end - begin);
}

BulkRequest BulkRequest::subset(const std::vector<std::size_t>& items) const {
  std::size_t bytes = 0;
  for (const std::size_t item : items) bytes += lines(item).size();
  BulkRequest part;
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
