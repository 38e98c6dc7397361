#include "tests/unit/pipeline/fake_elasticsearch.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "replicator/elasticsearch/admin/index_mapping.h"

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

HttpResponse acknowledged() {
  return {200, R"({"acknowledged":true})"};
}

HttpResponse refused(int status, const std::string& type) {
  return {status, json{{"error", error_of(type)}}.dump()};
}

// As a request to change settings has them: null takes one away.
void merge_settings(json& settings, const json& changes) {
  const json flat = flat_settings(changes);
  for (const auto& [name, value] : flat.items()) {
    if (value.is_null()) {
      settings.erase(name);
    } else {
      settings[name] = value;
    }
  }
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

Elasticsearch::Documents Elasticsearch::found_in(const Stored& stored) {
  Documents documents;
  for (const auto& [place, document] : stored) {
    if (document.json) documents[{place.second, document.routing}] = *document.json;
  }
  return documents;
}

Elasticsearch::Documents Elasticsearch::documents(const std::string& alias) const {
  const std::lock_guard lock(mutex_);
  return found_in(at(alias).documents);
}

std::optional<Elasticsearch::Documents> Elasticsearch::search(const std::string& alias) const {
  const std::lock_guard lock(mutex_);
  if (names_of(alias).size() != 1) return std::nullopt;
  return found_in(at(alias).searchable);
}

std::string Elasticsearch::index_of(const std::string& alias) const {
  const std::lock_guard lock(mutex_);
  const std::vector<std::string> names = names_of(alias);
  return names.size() == 1 ? names.front() : "";
}

int Elasticsearch::uuid_of(const std::string& alias) const {
  const std::lock_guard lock(mutex_);
  return names_of(alias).size() == 1 ? at(alias).uuid : 0;
}

std::vector<std::string> Elasticsearch::indices() const {
  const std::lock_guard lock(mutex_);
  return names_of("*");
}

std::optional<IndexedDocument> Elasticsearch::get(const std::string& alias, const std::string& id,
                                                  const std::string& routing) const {
  const std::lock_guard lock(mutex_);
  const Stored& documents = at(alias).documents;
  const auto document = documents.find({shard_of(id, routing), id});
  if (document == documents.end()) return std::nullopt;
  return document->second;
}

void Elasticsearch::damage(const std::string& alias, const std::string& id,
                           const std::optional<std::string>& json, const std::string& routing) {
  const std::lock_guard lock(mutex_);
  IndexedDocument& document = at(alias).documents[{shard_of(id, routing), id}];
  document = {routing, document.version + 1, json};
}

void Elasticsearch::create(const std::string& alias, const std::string& identity) {
  const std::lock_guard lock(mutex_);
  Index& index = indices_[alias + "-000001"];
  if (index.uuid == 0) index.uuid = ++last_uuid_;
  index.aliases = {{alias, json::object()}};
  index.mappings["_meta"]["lockstep"] = {{"pipeline", "test"}, {"identity", identity}, {"epoch", 0}};
}

void Elasticsearch::remove(const std::string& alias) {
  const std::lock_guard lock(mutex_);
  indices_.erase(name_of(alias));
}

bool Elasticsearch::has(const std::string& alias) const {
  const std::lock_guard lock(mutex_);
  return !names_of(alias).empty();
}

void Elasticsearch::lead_elsewhere(const std::string& alias, const std::string& identity) {
  const std::lock_guard lock(mutex_);
  home_[alias] = name_of(alias);
  Index other;
  other.uuid = ++last_uuid_;
  other.aliases[alias] = at(alias).aliases.at(alias);
  other.mappings["_meta"]["lockstep"] = {{"pipeline", "another"}, {"identity", identity}, {"epoch", 0}};
  at(alias).aliases.erase(alias);
  indices_["another-" + alias] = std::move(other);
}

void Elasticsearch::lead_back(const std::string& alias) {
  const std::lock_guard lock(mutex_);
  const json options = at(alias).aliases.at(alias);
  indices_.erase("another-" + alias);
  indices_.at(home_.extract(alias).mapped()).aliases[alias] = options;
}

void Elasticsearch::move_alias(const std::string& alias, const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (auto& [each, index] : indices_) index.aliases.erase(alias);
  Index& index = indices_[name];
  if (index.uuid == 0) index.uuid = ++last_uuid_;
  index.aliases[alias] = {{"is_write_index", true}};
}

std::int64_t Elasticsearch::epoch(const std::string& alias) const {
  const std::lock_guard lock(mutex_);
  return at(alias).mappings.at("_meta").at("lockstep").at("epoch");
}

void Elasticsearch::replace(const std::string& alias) {
  const std::lock_guard lock(mutex_);
  Index& index = at(alias);
  index.documents.clear();
  index.searchable.clear();
  index.uuid = ++last_uuid_;
}

void Elasticsearch::restore(const std::string& alias) {
  const std::lock_guard lock(mutex_);
  ++at(alias).history;
}

void Elasticsearch::forget_mark(const std::string& alias) {
  const std::lock_guard lock(mutex_);
  at(alias).mappings["_meta"].erase("lockstep");
}

void Elasticsearch::set_epoch(const std::string& alias, std::int64_t epoch) {
  const std::lock_guard lock(mutex_);
  mark(alias)["epoch"] = epoch;
}

void Elasticsearch::refresh_by_itself() {
  const std::lock_guard lock(mutex_);
  for (auto& [name, index] : indices_) {
    if (index.settings.value("index.refresh_interval", "") != "-1") index.searchable = index.documents;
  }
}

void Elasticsearch::forget_deletes(SteadyTime before) {
  const std::lock_guard lock(mutex_);
  for (auto& [name, index] : indices_)
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
  if (first == "_cluster") return {200, R"({"status":"green"})"};
  if (first == "_aliases") return change_aliases(request.body);
  if (first == "_index_template")
    return {200, json{{"template", json::parse(request.body).at("template")}}.dump()};
  if (first != "_search" && first.find(',') != first.npos) return refresh(first);
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
  // By require_alias a request finds no index by its own name.
  const std::vector<std::string> names = names_of(meta.at("_index"));
  const bool is_there = names.size() == 1 && names.front() != meta.at("_index");
  if (meta.contains("if_seq_no")) {  // a guard beside deletes
    return {{verb,
             {{"_id", meta.at("_id")},
              {"status", is_there ? 409 : 404},
              {"error",
               error_of(is_there ? "version_conflict_engine_exception" : "index_not_found_exception")}}}};
  }
  if (meta.at("version_type") != "external_gte") throw std::runtime_error("not an external version");
  Operation operation{.alias = meta.at("_index"),
                      .id = meta.at("_id"),
                      .routing = routing_of(meta),
                      .is_delete = verb == "delete",
                      .version = meta.at("version"),
                      .status = 200};
  if (is_there) operation.index = names.front(), operation.uuid = at(names.front()).uuid;
  json result = {{"_id", operation.id}};
  const auto fail = [&](int status, const std::string& type) {
    operation.status = status;
    result["error"] = error_of(type);
  };
  const std::pair<int, std::string> place{shard_of(operation.id, operation.routing), operation.id};
  if (!is_there) {
    fail(404, "index_not_found_exception");
  } else if (!operation.is_delete && !refused_text_.empty() && source.find(refused_text_) != source.npos) {
    fail(400, "mapper_parsing_exception");
  } else {
    Stored& documents = at(operation.index).documents;
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

// --- indices and aliases ---

// The real indices by a name: that of an index, of an alias, or the beginning of names and "*".
std::vector<std::string> Elasticsearch::names_of(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& [real, index] : indices_) {
    const bool is_meant = name.ends_with("*") ? real.starts_with(name.substr(0, name.size() - 1))
                                              : real == name || index.aliases.contains(name);
    if (is_meant) names.push_back(real);
  }
  return names;
}

std::string Elasticsearch::name_of(const std::string& name) const {
  const std::vector<std::string> names = names_of(name);
  if (names.size() != 1) throw std::out_of_range(name + " is not one index");
  return names.front();
}

HttpResponse Elasticsearch::states(const std::vector<std::string>& names) const {
  json states = json::object();
  for (const std::string& name : names) {
    const Index& index = indices_.at(name);
    json settings = index.settings;
    settings["index.uuid"] = name + " " + std::to_string(index.uuid);
    if (index.history > 0) settings["index.history.uuid"] = std::to_string(index.history);
    states[name] = {
        {"aliases", index.aliases}, {"mappings", index.mappings}, {"settings", std::move(settings)}};
  }
  return {200, states.dump()};
}

HttpResponse Elasticsearch::create_index(const std::string& name, const std::string_view& body) {
  if (!names_of(name).empty()) return refused(400, "resource_already_exists_exception");
  const json wanted = json::parse(body);
  Index& index = indices_[name];
  index.uuid = ++last_uuid_;
  index.mappings = wanted.value("mappings", json::object());
  index.aliases = wanted.value("aliases", json::object());
  merge_settings(index.settings, wanted.value("settings", json::object()));
  return acknowledged();
}

// All of it, or nothing. What is to be removed and is not there is no reason to refuse, as in
// Elasticsearch 7.
HttpResponse Elasticsearch::change_aliases(std::string_view body) {
  std::map<std::string, json> changed;  // by index
  for (const auto& [name, index] : indices_) changed[name] = index.aliases;
  const json request = json::parse(body);
  for (const json& action : request.at("actions")) {
    json options = action.begin().value();
    const auto index = changed.find(options.at("index"));
    if (index == changed.end()) return refused(404, "index_not_found_exception");
    const std::string alias = options.at("alias");
    options.erase("index");
    options.erase("alias");
    if (action.begin().key() == "remove") {
      index->second.erase(alias);
    } else {
      index->second[alias] = options;
    }
  }
  std::set<std::string> written;
  for (const auto& [name, aliases] : changed) {
    for (const auto& [alias, options] : aliases.items()) {
      if (options.value("is_write_index", false) && !written.insert(alias).second)
        return refused(500, "illegal_state_exception");
    }
  }
  for (auto& [name, aliases] : changed) indices_.at(name).aliases = std::move(aliases);
  return acknowledged();
}

HttpResponse Elasticsearch::refresh(const std::string& listed) {
  std::istringstream names(listed);
  for (std::string name; std::getline(names, name, ',');) {
    if (names_of(name).empty()) return refused(404, "index_not_found_exception");
    for (const std::string& index : names_of(name))
      indices_.at(index).searchable = indices_.at(index).documents;
  }
  return {200, "{}"};
}

HttpResponse Elasticsearch::index_request(const HttpRequest& request, const std::string& name) {
  const std::string last = segments_of(request.path).back();
  const bool is_whole = last == name;
  if (is_whole && request.method == "PUT") return create_index(name, request.body);
  const std::vector<std::string> names = names_of(name);
  if (names.empty() && !name.ends_with("*")) return refused(404, "index_not_found_exception");
  if (is_whole && request.method == "GET") return states(names);
  if (names.size() != 1) return refused(400, "illegal_argument_exception");
  Index& index = indices_.at(names.front());
  if (is_whole && request.method == "DELETE") {
    if (names.front() != name) return refused(400, "illegal_argument_exception");
    indices_.erase(name);
    return acknowledged();
  }
  if (last == "_mapping") {
    const json changes = json::parse(request.body);
    if (changes.contains("_meta")) index.mappings.erase("_meta");
    index.mappings.merge_patch(changes);
    return acknowledged();
  }
  if (last == "_settings") {
    merge_settings(index.settings, json::parse(request.body));
    return acknowledged();
  }
  if (last == "_refresh") return refresh(name);
  if (last == "_count") {
    return {200, json{{"count", found_in(index.searchable).size()}, {"_shards", {{"failed", 0}}}}.dump()};
  }
  if (last == "_mget") return multi_get(request, names.front());
  if (last == "_search") return search_request(names.front(), request.body);
  throw std::runtime_error("not played: " + request.method + " " + request.path);
}

// --- reading ---

HttpResponse Elasticsearch::multi_get(const HttpRequest& of, const std::string& name) {
  const bool with_sources = of.path.find("_source=false") == std::string::npos;
  const bool with_routing = with_sources || of.path.find("stored_fields=_routing") != std::string::npos;
  const Stored& documents = indices_.at(name).documents;
  // Put together as text, so that a source comes back byte by byte.
  std::string replies;
  const json request = json::parse(of.body);
  for (const json& wanted : request.at("docs")) {
    const std::string id = wanted.at("_id");
    const auto document = documents.find({shard_of(id, routing_of(wanted)), id});
    json reply = {{"_index", name}, {"_id", id}, {"found", false}};
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

HttpResponse Elasticsearch::search_request(const std::string& name, std::string_view body) {
  const json request = json::parse(body);
  if (request.contains("query")) return search_ids(name, request);
  Scan scan;
  scan.index = name;
  scan.uuid = indices_.at(name).uuid;
  scan.page = request.at("size");
  for (const auto& [place, document] : indices_.at(name).searchable) {
    if (!document.json) continue;
    json hit = {{"_id", place.second}, {"_version", document.version}};
    if (!document.routing.empty()) hit["_routing"] = document.routing;
    scan.hits.push_back(std::move(hit));
  }
  const std::string id = "scan-" + std::to_string(scans_.size());
  scans_[id] = std::move(scan);
  return {200, scan_page(id).dump()};
}

HttpResponse Elasticsearch::search_ids(const std::string& name, const json& request) {
  const std::set<std::string> ids = request.at("query").at("ids").at("values");
  std::string hits;
  std::size_t room = request.at("size");
  std::int64_t total = 0;
  for (const auto& [place, document] : indices_.at(name).searchable) {
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
  const std::string id = json::parse(body).at("scroll_id");
  const auto index = indices_.find(scans_.at(id).index);
  if (index == indices_.end() || index->second.uuid != scans_.at(id).uuid)
    return refused(404, "search_context_missing_exception");
  return {200, scan_page(id).dump()};
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
