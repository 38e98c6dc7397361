#include "tests/unit/pipeline/fake_elasticsearch.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace lockstep::fake {
namespace {

using nlohmann::json;

json error_of(const std::string& type) {
  return {{"type", type}, {"reason", "as the test wants it"}};
}

/// The documents that a bulk request names, each once.
std::set<std::string> documents_of(std::string_view body) {
  std::set<std::string> named;
  std::istringstream lines{std::string(body)};
  for (std::string line; std::getline(lines, line);) {
    const json action = json::parse(line);
    if (!action.begin()->contains("if_seq_no")) named.insert(action.begin()->at("_id"));
    if (action.contains("index")) std::getline(lines, line);
  }
  return named;
}

/// The part of a path up to the query string, in segments.
std::vector<std::string> segments_of(const std::string& path) {
  std::vector<std::string> segments;
  std::istringstream rest(path.substr(1, path.find('?') - 1));
  for (std::string segment; std::getline(rest, segment, '/');) segments.push_back(segment);
  return segments;
}

std::string routing_of(const json& object) {
  return object.value("routing", "");
}

}  // namespace

class FakeTransport final : public HttpTransport {
 public:
  explicit FakeTransport(Elasticsearch& server) : server_(server) {}

  HttpResponse perform(const HttpRequest& request) override { return server_.perform(request, cancelled_); }

  void cancel() override {
    const std::lock_guard lock(server_.mutex_);
    cancelled_ = true;
    server_.changed_.notify_all();
  }

 private:
  Elasticsearch& server_;
  bool cancelled_ = false;  // guarded by server_.mutex_
};

/// Notes which documents are in a request from its arrival to its reply.
class Elasticsearch::InFlight {
 public:
  InFlight(Elasticsearch& server, std::set<std::string> ids) : server_(server), ids_(std::move(ids)) {
    const std::lock_guard lock(server_.mutex_);
    for (const std::string& id : ids_) {
      if (server_.in_flight_.contains(id)) server_.overlaps_.insert(id);
      server_.in_flight_.insert(id);
    }
  }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  ~InFlight() {
    const std::lock_guard lock(server_.mutex_);
    for (const std::string& id : ids_) server_.in_flight_.erase(server_.in_flight_.find(id));
  }

 private:
  Elasticsearch& server_;
  const std::set<std::string> ids_;
};

BulkWriter::TransportFactory Elasticsearch::transports() {
  return [this] { return std::make_unique<FakeTransport>(*this); };
}

// --- what tests ask and do ---

Elasticsearch::Documents Elasticsearch::documents(const std::string& alias) const {
  const std::lock_guard lock(mutex_);
  Documents documents;
  for (const auto& [place, document] : indices_.at(alias).documents) {
    if (document.json) documents[{place.second, document.routing}] = *document.json;
  }
  return documents;
}

std::optional<IndexedDocument> Elasticsearch::get(const std::string& alias, const std::string& id,
                                                  const std::string& routing) const {
  const std::lock_guard lock(mutex_);
  const auto& documents = indices_.at(alias).documents;
  const auto document = documents.find({shard_of(id, routing), id});
  if (document == documents.end()) return std::nullopt;
  return document->second;
}

void Elasticsearch::damage(const std::string& alias, const std::string& id,
                           const std::optional<std::string>& json, const std::string& routing) {
  const std::lock_guard lock(mutex_);
  IndexedDocument& document = indices_.at(alias).documents[{shard_of(id, routing), id}];
  document = {routing, document.version + 1, json};
}

void Elasticsearch::create(const std::string& alias, const std::string& identity) {
  const std::lock_guard lock(mutex_);
  const auto [index, is_new] = indices_.try_emplace(alias);
  if (is_new) index->second.generation += removed_;
  index->second.meta = {{"lockstep", {{"pipeline", "test"}, {"identity", identity}, {"epoch", 0}}}};
}

void Elasticsearch::remove(const std::string& alias) {
  const std::lock_guard lock(mutex_);
  removed_ += indices_.at(alias).generation;
  indices_.erase(alias);
}

bool Elasticsearch::has(const std::string& alias) const {
  const std::lock_guard lock(mutex_);
  return indices_.contains(alias);
}

void Elasticsearch::lead_elsewhere(const std::string& alias, const std::string& identity) {
  const std::lock_guard lock(mutex_);
  Index& other = apart_[alias];
  std::swap(other, indices_.at(alias));
  Index& index = indices_.at(alias);
  index.generation = -other.generation;
  index.meta = {{"lockstep", {{"pipeline", "another"}, {"identity", identity}, {"epoch", 0}}}};
}

void Elasticsearch::lead_back(const std::string& alias) {
  const std::lock_guard lock(mutex_);
  indices_.at(alias) = std::move(apart_.extract(alias).mapped());
}

std::int64_t Elasticsearch::epoch(const std::string& alias) const {
  const std::lock_guard lock(mutex_);
  return indices_.at(alias).meta.at("lockstep").at("epoch");
}

void Elasticsearch::replace(const std::string& alias) {
  const std::lock_guard lock(mutex_);
  Index& index = indices_.at(alias);
  index.documents.clear();
  index.searchable.clear();
  ++index.generation;
}

void Elasticsearch::restore(const std::string& alias) {
  const std::lock_guard lock(mutex_);
  ++indices_.at(alias).history;
}

void Elasticsearch::forget_mark(const std::string& alias) {
  const std::lock_guard lock(mutex_);
  indices_.at(alias).meta.erase("lockstep");
}

void Elasticsearch::set_epoch(const std::string& alias, std::int64_t epoch) {
  const std::lock_guard lock(mutex_);
  indices_.at(alias).meta["lockstep"]["epoch"] = epoch;
}

void Elasticsearch::forget_deletes(SteadyTime before) {
  const std::lock_guard lock(mutex_);
  for (auto& [alias, index] : indices_)
    std::erase_if(index.documents, [&](const auto& document) {
      return !document.second.json && document.second.deleted_at < before;
    });
}

void Elasticsearch::refuse(const std::string& text) {
  const std::lock_guard lock(mutex_);
  refused_text_ = text;
}

void Elasticsearch::keep_otherwise(const std::string& text, const std::string& json) {
  const std::lock_guard lock(mutex_);
  changed_text_ = text;
  changed_json_ = json;
}

void Elasticsearch::hold() {
  const std::lock_guard lock(mutex_);
  holding_ = true;
}

void Elasticsearch::release() {
  const std::lock_guard lock(mutex_);
  holding_ = false;
  changed_.notify_all();
}

void Elasticsearch::await_held(std::size_t requests) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, std::chrono::seconds(20), [&] { return held_ >= requests; }))
    throw std::runtime_error("no bulk request has come");
}

void Elasticsearch::intercept(Interceptor interceptor) {
  const std::lock_guard lock(mutex_);
  interceptor_ = std::move(interceptor);
}

void Elasticsearch::lose_next_reply() {
  const std::lock_guard lock(mutex_);
  lose_reply_ = true;
}

std::vector<Operation> Elasticsearch::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

std::vector<Operation> Elasticsearch::operations_on(const std::string& id) const {
  std::vector<Operation> found = operations();
  std::erase_if(found, [&](const Operation& operation) { return operation.id != id; });
  return found;
}

std::size_t Elasticsearch::bulk_requests() const {
  const std::lock_guard lock(mutex_);
  return bulk_requests_;
}

std::size_t Elasticsearch::largest_bulk() const {
  const std::lock_guard lock(mutex_);
  return largest_bulk_;
}

std::size_t Elasticsearch::largest_reply() const {
  const std::lock_guard lock(mutex_);
  return largest_reply_;
}

std::set<std::string> Elasticsearch::overlaps() const {
  const std::lock_guard lock(mutex_);
  return overlaps_;
}

// --- what the server does ---

HttpResponse Elasticsearch::perform(const HttpRequest& request, const bool& cancelled) {
  Interceptor interceptor;
  {
    const std::lock_guard lock(mutex_);
    if (cancelled) throw TransportError("cancelled", false);
    interceptor = interceptor_;
  }
  const std::vector<std::string> segments = segments_of(request.path);
  if (segments.at(0) == "_bulk") return perform_bulk(request, interceptor, cancelled);
  if (interceptor) {
    if (std::optional<HttpResponse> reply = interceptor(request)) return *reply;
  }
  const std::lock_guard lock(mutex_);
  HttpResponse reply = answer(request);
  largest_reply_ = std::max(largest_reply_, reply.body.size());
  return reply;
}

HttpResponse Elasticsearch::answer(const HttpRequest& request) {
  const std::string first = segments_of(request.path).at(0);
  if (first != "_search") return index_request(request, first);
  return request.method == "DELETE" ? HttpResponse{200, "{}"} : scroll(request.body);
}

HttpResponse Elasticsearch::perform_bulk(const HttpRequest& request, const Interceptor& interceptor,
                                         const bool& cancelled) {
  const InFlight in_flight(*this, documents_of(request.body));
  wait_while_held(cancelled);
  if (interceptor) {
    if (std::optional<HttpResponse> reply = interceptor(request)) return *reply;
  }
  const std::lock_guard lock(mutex_);
  HttpResponse reply = bulk(request.body);
  if (std::exchange(lose_reply_, false)) throw TransportError("the reply is lost", true);
  return reply;
}

void Elasticsearch::wait_while_held(const bool& cancelled) {
  std::unique_lock lock(mutex_);
  ++held_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !holding_ || cancelled; });
  --held_;
  if (cancelled) throw TransportError("cancelled", false);
}

int Elasticsearch::shard_of(const std::string& id, const std::string& routing) const {
  const std::size_t hash = std::hash<std::string>()(routing.empty() ? id : routing);
  return static_cast<int>(hash % static_cast<std::size_t>(shards_));
}

HttpResponse Elasticsearch::bulk(std::string_view body) {
  ++bulk_requests_;
  largest_bulk_ = std::max(largest_bulk_, body.size());
  json items = json::array();
  bool errors = false;
  std::istringstream lines{std::string(body)};
  for (std::string line; std::getline(lines, line);) {
    const json action = json::parse(line);
    std::string source;
    if (action.contains("index") && !std::getline(lines, source)) throw std::runtime_error("no document");
    items.push_back(apply(action, source));
    errors = errors || items.back().begin()->contains("error");
  }
  return {200, json{{"errors", errors}, {"items", items}}.dump()};
}

json Elasticsearch::apply(const json& action, const std::string& source) {
  const std::string verb = action.begin().key();
  const json& meta = action.begin().value();
  if (meta.contains("if_seq_no")) {  // a guard beside deletes
    const bool is_there = indices_.contains(meta.at("_index"));
    return {{verb,
             {{"_id", meta.at("_id")},
              {"status", is_there ? 409 : 404},
              {"error",
               error_of(is_there ? "version_conflict_engine_exception" : "index_not_found_exception")}}}};
  }
  if (meta.at("version_type") != "external_gte") throw std::runtime_error("not an external version");
  Operation operation{meta.at("_index"), meta.at("_id"),     routing_of(meta),
                      verb == "delete",  meta.at("version"), 200};
  json result = {{"_id", operation.id}};
  const auto fail = [&](int status, const std::string& type) {
    operation.status = status;
    result["error"] = error_of(type);
  };
  const auto index = indices_.find(operation.alias);
  const std::pair<int, std::string> place{shard_of(operation.id, operation.routing), operation.id};
  if (index == indices_.end()) {
    fail(404, "index_not_found_exception");
  } else if (!operation.is_delete && !refused_text_.empty() && source.find(refused_text_) != source.npos) {
    fail(400, "mapper_parsing_exception");
  } else {
    auto& documents = index->second.documents;
    const auto before = documents.find(place);
    const bool exists = before != documents.end() && before->second.json;
    if (before != documents.end() && before->second.version > operation.version) {
      fail(409, "version_conflict_engine_exception");
    } else {
      operation.is_new = !exists;
      if (operation.is_delete && !exists) operation.status = 404;
      const bool is_changed = !changed_text_.empty() && source.find(changed_text_) != source.npos;
      documents[place] = {
          operation.routing, operation.version,
          operation.is_delete ? std::nullopt : std::optional(is_changed ? changed_json_ : source),
          steady_now()};
    }
  }
  result["status"] = operation.status;
  listener_(operation, source);
  operations_.push_back(std::move(operation));
  return {{verb, result}};
}

// An index by its own name, by its alias, or by the pattern of its generations.
HttpResponse Elasticsearch::index_request(const HttpRequest& request, const std::string& alias) {
  const bool is_pattern = alias.ends_with("-*");
  const std::string name =
      is_pattern || alias.ends_with("-000001") ? alias.substr(0, alias.rfind('-')) : alias;
  const auto found = indices_.find(name);
  if (found == indices_.end() && is_pattern) return {200, "{}"};
  if (found == indices_.end()) return {404, json{{"error", error_of("index_not_found_exception")}}.dump()};
  Index& index = found->second;
  const std::string last = segments_of(request.path).back();
  if (last == alias) {
    json settings = {{"index.uuid", name + std::to_string(index.generation)}};
    if (index.history > 0) settings["index.history.uuid"] = std::to_string(index.history);
    const json state = {{"aliases", {{name, json::object()}}},
                        {"mappings", {{"_meta", index.meta}}},
                        {"settings", std::move(settings)}};
    return {200, json{{name + "-000001", state}}.dump()};
  }
  if (last == "_mapping") {
    index.meta = json::parse(request.body).at("_meta");
    return {200, R"({"acknowledged":true})"};
  }
  if (last == "_refresh") {
    index.searchable = index.documents;
    return {200, "{}"};
  }
  if (last == "_count") {
    const auto count = std::count_if(index.searchable.begin(), index.searchable.end(),
                                     [](const auto& document) { return document.second.json.has_value(); });
    return {200, json{{"count", count}, {"_shards", {{"failed", 0}}}}.dump()};
  }
  if (last == "_mget") return multi_get(request, name);
  if (last == "_search") return search(name, request.body);
  throw std::runtime_error("not played: " + request.method + " " + request.path);
}

HttpResponse Elasticsearch::multi_get(const HttpRequest& of, const std::string& alias) {
  const bool with_sources = of.path.find("_source=false") == std::string::npos;
  const bool with_routing = with_sources || of.path.find("stored_fields=_routing") != std::string::npos;
  const auto& documents = indices_.at(alias).documents;
  // Put together as text, so that a source comes back byte by byte.
  std::string replies;
  const json request = json::parse(of.body);
  for (const json& wanted : request.at("docs")) {
    const std::string id = wanted.at("_id");
    const auto document = documents.find({shard_of(id, routing_of(wanted)), id});
    json reply = {{"_index", alias + "-000001"}, {"_id", id}, {"found", false}};
    std::string source;
    if (document != documents.end() && document->second.json) {
      reply["found"] = true;
      reply["_version"] = document->second.version;
      if (with_routing && !document->second.routing.empty()) reply["_routing"] = document->second.routing;
      if (with_sources) source = ",\"_source\":" + *document->second.json;
    }
    std::string text = reply.dump();
    text.insert(text.size() - 1, source);
    replies += (replies.empty() ? "" : ",") + text;
  }
  return {200, "{\"docs\":[" + replies + "]}"};
}

HttpResponse Elasticsearch::search(const std::string& alias, std::string_view body) {
  const json request = json::parse(body);
  if (request.contains("query")) return search_ids(alias, request);
  Scan scan;
  scan.page = request.at("size");
  for (const auto& [place, document] : indices_.at(alias).searchable) {
    if (!document.json) continue;
    json hit = {{"_id", place.second}, {"_version", document.version}};
    if (!document.routing.empty()) hit["_routing"] = document.routing;
    scan.hits.push_back(std::move(hit));
  }
  const std::string id = "scan-" + std::to_string(scans_.size());
  scans_[id] = std::move(scan);
  return {200, scan_page(id).dump()};
}

HttpResponse Elasticsearch::search_ids(const std::string& alias, const json& request) {
  const std::set<std::string> ids = request.at("query").at("ids").at("values");
  std::string hits;
  std::size_t room = request.at("size");
  std::int64_t total = 0;
  for (const auto& [place, document] : indices_.at(alias).searchable) {
    if (!document.json || !ids.contains(place.second)) continue;
    ++total;
    if (room == 0) continue;
    --room;
    json hit = {{"_id", place.second}, {"_version", document.version}};
    if (!document.routing.empty()) hit["_routing"] = document.routing;
    std::string text = hit.dump();
    text.insert(text.size() - 1, ",\"_source\":" + *document.json);
    hits += (hits.empty() ? "" : ",") + text;
  }
  return {200, R"({"timed_out":false,"_shards":{"failed":0},"hits":{"total":{"value":)" +
                   std::to_string(total) + R"(},"hits":[)" + hits + "]}}"};
}

HttpResponse Elasticsearch::scroll(std::string_view body) {
  return {200, scan_page(json::parse(body).at("scroll_id")).dump()};
}

json Elasticsearch::scan_page(const std::string& scroll_id) {
  Scan& scan = scans_.at(scroll_id);
  json hits = json::array();
  for (; scan.next < scan.hits.size() && hits.size() < scan.page; ++scan.next)
    hits.push_back(scan.hits[scan.next]);
  return {{"_scroll_id", scroll_id},
          {"timed_out", false},
          {"_shards", {{"failed", 0}}},
          {"hits", {{"total", {{"value", scan.hits.size()}}}, {"hits", hits}}}};
}

}  // namespace lockstep::fake
