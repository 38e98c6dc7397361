#include "tests/support/bulk_history.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace lockstep::support {
namespace {

using Json = nlohmann::json;

std::string name(const BulkOperation& operation) {
  return operation.alias + " '" + operation.id + "'" +
         (operation.routing.empty() ? "" : " (routing '" + operation.routing + "')");
}

std::string_view next_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

// The index that the path of a request names: /ALIAS/_bulk.
std::string path_index(const std::string& target) {
  const std::size_t end = target.find("/_bulk");
  return end == std::string::npos || end == 0 ? "" : target.substr(1, end - 1);
}

}  // namespace

std::vector<BulkOperation> BulkHistory::begin(const HttpMessage& request) {
  std::vector<BulkOperation> operations;
  std::vector<std::string> malformed;
  std::string_view rest = request.body;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    if (line.empty()) continue;
    const Json action = Json::parse(line, nullptr, false);
    if (!action.is_object() || action.empty() || !action.begin().value().is_object()) {
      malformed.push_back("not an action line: " + std::string(line.substr(0, 300)));
      break;
    }
    const std::string verb = action.begin().key();
    const Json& meta = action.begin().value();
    BulkOperation operation;
    operation.alias = meta.value("_index", path_index(request.target()));
    operation.id = meta.value("_id", "");
    operation.routing = meta.value("routing", "");
    operation.is_delete = verb == "delete";
    operation.version = meta.value("version", std::int64_t{-1});
    operation.conditional = meta.contains("if_seq_no");
    if (!operation.conditional &&
        (meta.value("version_type", "") != "external_gte" || operation.version < 0 || operation.id.empty() ||
         (verb != "index" && verb != "delete"))) {
      malformed.push_back("an operation without id, action or external version: " + std::string(line));
    }
    if (!operation.is_delete) {
      const std::string_view document = next_line(rest);
      operation.content_hash = std::hash<std::string_view>{}(document);
      try {
        if (read_counters_ && !operation.conditional) operation.counters = read_counters_(document);
      } catch (const std::exception& error) {
        malformed.push_back(name(operation) + " has no counters: " + error.what() + ": " +
                            std::string(document));
      }
    }
    operations.push_back(std::move(operation));
  }
  const std::lock_guard lock(mutex_);
  ++requests_;
  malformed_.insert(malformed_.end(), malformed.begin(), malformed.end());
  for (const BulkOperation& operation : operations) {
    if (operation.conditional) continue;
    auto [last, is_new] = last_begun_.try_emplace({operation.alias, operation.id, operation.routing}, -1);
    if (!is_new && last->second == operation.version) ++repeated_;
    last->second = operation.version;
    if (!in_flight_.emplace(operation.alias, operation.id, operation.routing).second)
      overlaps_.push_back(name(operation));
  }
  return operations;
}

void BulkHistory::end(std::vector<BulkOperation> operations, const HttpMessage* reply) {
  std::string misaligned;
  std::string unseen;
  if (reply != nullptr) {
    Json body = Json::parse(reply->body, nullptr, false);
    const bool whole = reply->status() == 200 && body.is_object() && body.contains("items");
    if (whole && body["items"].size() != operations.size())
      misaligned = "a reply with another number of items";
    for (std::size_t i = 0; i < operations.size(); ++i) {
      BulkOperation& operation = operations[i];
      operation.status = reply->status();
      if (!whole || !misaligned.empty()) continue;
      const Json& item = body["items"][i].begin().value();
      operation.status = item.at("status").get<int>();
      operation.index = item.value("_index", "");
      operation.seq_no = item.value("_seq_no", std::int64_t{-1});
      const bool done = operation.status < 300 || (operation.status == 404 && !item.contains("error"));
      if (done && operation.seq_no < 0) unseen = name(operation) + ": applied without a _seq_no in the reply";
      if (item.contains("error")) {
        operation.error_type = item["error"].value("type", "unknown");
        operation.seq_no = -1;
      }
    }
  }
  const std::lock_guard lock(mutex_);
  if (!misaligned.empty()) malformed_.push_back(misaligned);
  if (!unseen.empty()) malformed_.push_back(unseen);
  for (BulkOperation& operation : operations) {
    if (operation.conditional) {
      if (operation.applied())
        malformed_.push_back(name(operation) + ": a conditional operation was applied");
      continue;
    }
    in_flight_.erase({operation.alias, operation.id, operation.routing});
    if (reply == nullptr) continue;
    if (operation.applied()) ++applied_;
    operation.index += "#" + std::to_string(deleted_[operation.index]);
    if (operation.status == 409) ++superseded_;
    operations_.push_back(std::move(operation));
  }
}

void BulkHistory::index_deleted(const std::string& index) {
  const std::lock_guard lock(mutex_);
  ++deleted_[index];
}

void BulkHistory::source_put_back(std::int64_t version) {
  const std::lock_guard lock(mutex_);
  put_backs_.push_back(version);
}

void BulkHistory::follow(Course& course, const BulkOperation& operation,
                         std::vector<std::string>& violations) const {
  const auto put_backs =
      static_cast<std::size_t>(std::count_if(put_backs_.begin(), put_backs_.end(), [&](std::int64_t version) {
        return version < operation.version;
      }));
  if (course.begun && operation.version < course.version) {
    violations.push_back(name(operation) + ": version " + std::to_string(operation.version) +
                         " was applied over " + std::to_string(course.version));
  }
  if (course.begun && operation.version == course.version &&
      (operation.is_delete != course.is_delete || operation.content_hash != course.content_hash)) {
    violations.push_back(name(operation) + ": version " + std::to_string(operation.version) +
                         " has two contents");
  }
  if (put_backs > course.put_backs) course.counters.clear();
  for (const auto& [row, counter] : operation.counters) {
    std::int64_t& seen = course.counters.try_emplace(row, counter).first->second;
    if (counter < seen) {
      violations.push_back(name(operation) + ": version " + std::to_string(operation.version) + " shows " +
                           row + " at " + std::to_string(counter) + " after " + std::to_string(seen));
    }
    seen = std::max(seen, counter);
  }
  course.begun = true;
  course.version = operation.version;
  course.is_delete = operation.is_delete;
  course.content_hash = operation.content_hash;
  course.put_backs = std::max(course.put_backs, put_backs);
}

void BulkHistory::follow_all(Courses& courses, std::vector<std::string>& violations) const {
  std::map<Key, std::vector<const BulkOperation*>> documents;
  for (const BulkOperation& operation : operations_) {
    if (operation.applied())
      documents[{operation.index, operation.id, operation.routing}].push_back(&operation);
  }
  for (auto& [key, applied] : documents) {
    std::sort(applied.begin(), applied.end(),
              [](const auto* left, const auto* right) { return left->seq_no < right->seq_no; });
    Course& course = courses[key];
    for (const BulkOperation* operation : applied) follow(course, *operation, violations);
  }
}

std::vector<std::string> BulkHistory::violations() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> violations = malformed_;
  violations.insert(violations.end(), settled_violations_.begin(), settled_violations_.end());
  Courses courses = courses_;
  follow_all(courses, violations);
  return violations;
}

bool BulkHistory::settle() {
  const std::lock_guard lock(mutex_);
  if (!in_flight_.empty()) return false;
  follow_all(courses_, settled_violations_);
  settled_ += static_cast<std::int64_t>(operations_.size());
  operations_.clear();
  return true;
}

std::vector<std::string> BulkHistory::overlaps() const {
  const std::lock_guard lock(mutex_);
  return overlaps_;
}

std::vector<BulkOperation> BulkHistory::operations_on(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  std::vector<BulkOperation> found;
  for (const BulkOperation& operation : operations_) {
    if (operation.id == id) found.push_back(operation);
  }
  return found;
}

std::vector<BulkOperation> BulkHistory::applied_to(const std::string& id) const {
  std::vector<BulkOperation> found = operations_on(id);
  std::erase_if(found, [](const BulkOperation& operation) { return !operation.applied(); });
  std::sort(found.begin(), found.end(),
            [](const auto& left, const auto& right) { return left.seq_no < right.seq_no; });
  return found;
}

std::int64_t BulkHistory::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::int64_t BulkHistory::operations() const {
  const std::lock_guard lock(mutex_);
  return settled_ + static_cast<std::int64_t>(operations_.size());
}

std::int64_t BulkHistory::applied() const {
  const std::lock_guard lock(mutex_);
  return applied_;
}

std::int64_t BulkHistory::superseded() const {
  const std::lock_guard lock(mutex_);
  return superseded_;
}

std::int64_t BulkHistory::repeated() const {
  const std::lock_guard lock(mutex_);
  return repeated_;
}

}  // namespace lockstep::support
