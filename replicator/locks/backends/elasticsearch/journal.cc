#include "replicator/locks/backends/elasticsearch/journal.h"

#include <algorithm>
#include <utility>

#include "replicator/elasticsearch/read/get_document.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/stored_object.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/locks/backends/elasticsearch/bulk_call.h"
#include "replicator/locks/backends/elasticsearch/lock_documents.h"
#include "replicator/locks/backends/elasticsearch/lock_json.h"
#include "replicator/locks/stored_value.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr std::size_t kPrunePage = 1'000;
constexpr const char* kTokenPlace = "the last fencing token";
constexpr const char* kDrawing = "drawing a fencing token";
/// So far ahead of the server's clock a new counter of tokens begins (journal_token.painless).
constexpr std::chrono::seconds kHeadStart{1};
constexpr int kMaxDrawing = 100;  // collisions with other drawings
constexpr int kMaxOpening = 10;   // collisions with itself, when another node is asked too

/// Also unknown states: their reader names them.
const json& not_ended() {
  static const json query = {{"bool",
                              {{"must_not", json::array({{{"terms", {{"state", {"done", "aborted"}}}}},
                                                         {{"ids", {{"values", {kTokenId}}}}}})}}}};
  return query;
}

/// The fields that change after open(), as far as they have a value.
json changing_fields(const Operation& operation) {
  json fields = {
      {"state", text_of(operation.state)}, {"progress", operation.progress}, {"reason", operation.reason}};
  if (!operation.task.empty()) fields["task"] = operation.task;
  if (operation.token != 0) fields["token"] = operation.token;
  // The commit's own write cannot know its sequence number, so the next one stores it.
  if (operation.commit != 0) fields["commit"] = operation.commit;
  return fields;
}

/// The fields after an update, as far as its `_source` asked for them.
const json& written_fields(const std::string& id, const json& reply) {
  static const json kNoReply = json::object();
  const auto get = reply.find("get");
  return stored_source(place_of_operation(id), get == reply.end() ? kNoReply : *get);
}

json whole_document(const Operation& operation) {
  json document = entry_json(operation);
  document.update(changing_fields(operation));
  document["epoch"] = operation.epoch;
  document["lease_until"] = milliseconds_of(operation.lease_until);
  return document;
}

}  // namespace

ElasticsearchJournal::ElasticsearchJournal(ElasticsearchClient& client, std::string index, Painless painless,
                                           std::chrono::milliseconds lease)
    : client_(client), index_(std::move(index)), painless_(painless), lease_(lease) {}

std::string ElasticsearchJournal::document_path(const std::string& id, const char* endpoint,
                                                JournalVersion version) const {
  return "/" + percent_encoded(index_) + "/" + endpoint + "/" + percent_encoded(id) +
         "?if_seq_no=" + std::to_string(version.number) + "&if_primary_term=" + std::to_string(version.term);
}

void ElasticsearchJournal::open(Operation& operation) {
  const std::string doing = "opening the operation " + operation.id;
  const std::string path = "/" + percent_encoded(index_);
  operation.owner = operation.id;
  if (painless_ == Painless::kHere) {
    const json body = {{"scripted_upsert", true},
                       {"upsert", json::object()},
                       {"_source", json::array({"lease_until"})},
                       {"script",
                        {{"id", script_id::kJournalOpen},
                         {"params", {{"entry", entry_json(operation)}, {"lease", lease_.count()}}}}}};
    const json reply = client_.send_json(doing, "POST",
                                         path + "/_update/" + percent_encoded(operation.id) +
                                             "?retry_on_conflict=" + std::to_string(kMaxOpening),
                                         dumped(body));
    operation.version = version_of(reply);
    operation.lease_until = read_lease(operation.id, written_fields(operation.id, reply));
    return;
  }
  operation.lease_until = read_server_time(client_) + lease_;
  const HttpResponse response = client_.send(doing, "PUT", path + "/_create/" + percent_encoded(operation.id),
                                             dumped(whole_document(operation)), {kConflict});
  if (response.status != kConflict) {
    operation.version = version_of(parse_reply(doing, response));
  } else if (const auto written = find(operation.id)) {
    operation.version = written->version;
  }
}

std::optional<Operation> ElasticsearchJournal::write(const Operation& changed, JournalVersion expected) {
  const std::string doing = "writing the operation " + changed.id + " to the journal";
  Operation written = changed;
  const bool commits = changed.state == OperationState::kRunning && changed.token == 0;
  if (commits) written.token = draw(0);
  HttpResponse response;
  if (painless_ == Painless::kHere) {
    json set = changing_fields(written);
    set["locks"] = locks_json(changed.locks);
    const json body = {
        {"_source", json::array({"lease_until"})},
        {"script", {{"id", script_id::kJournalStep}, {"params", {{"set", set}, {"lease", lease_.count()}}}}}};
    response = client_.send(doing, "POST", document_path(changed.id, "_update", expected), dumped(body),
                            {kNotFound, kConflict});
  } else {
    written.lease_until = read_server_time(client_) + lease_;
    response = client_.send(doing, "PUT", document_path(changed.id, "_doc", expected),
                            dumped(whole_document(written)), {kNotFound, kConflict});
  }
  if (response.status == kNotFound || response.status == kConflict) return std::nullopt;
  const json reply = parse_reply(doing, response);
  written.version = version_of(reply);
  if (painless_ == Painless::kHere)
    written.lease_until = read_lease(changed.id, written_fields(changed.id, reply));
  if (commits) written.commit = written.version.number;
  return written;
}

FencingToken ElasticsearchJournal::draw(FencingToken above) {
  if (painless_ == Painless::kMissing) return draw_plainly(above);
  const json body = {{"scripted_upsert", true},
                     {"upsert", json::object()},
                     {"_source", json::array({"last"})},
                     {"script", {{"id", script_id::kJournalToken}, {"params", {{"above", above}}}}}};
  const json reply = client_.send_json(kDrawing, "POST",
                                       "/" + percent_encoded(index_) + "/_update/" + kTokenId +
                                           "?retry_on_conflict=" + std::to_string(kMaxDrawing),
                                       dumped(body));
  const auto get = reply.find("get");
  return StoredObject(kTokenPlace, stored_source(kTokenPlace, get == reply.end() ? json::object() : *get))
      .integer("last");
}

FencingToken ElasticsearchJournal::draw_plainly(FencingToken above) {
  const std::string path = "/" + percent_encoded(index_);
  for (int tried = 0; tried < kMaxDrawing; ++tried) {
    const std::optional<json> stored = get_document(client_, kDrawing, index_, kTokenId);
    const ServerTime now = read_server_time(client_);
    FencingToken token = milliseconds_of(stored ? now : now + kHeadStart);
    std::string target = path + "/_create/" + kTokenId;
    if (stored) {
      token =
          std::max(token, StoredObject(kTokenPlace, stored_source(kTokenPlace, *stored)).integer("last") + 1);
      target = document_path(kTokenId, "_doc", version_of(*stored));
    }
    token = std::max(token, above + 1);
    const HttpResponse response =
        client_.send(kDrawing, "PUT", target, dumped({{"last", token}}), {kConflict});
    if (response.status != kConflict) return token;
  }
  throw Error({kDrawing, "too many draw one at once", "try again", Retry::kLater, Server::kElasticsearch});
}

Resolution ElasticsearchJournal::seize(const Operation& found, const std::string& by, Adoption adoption) {
  if (found.resolved()) return {Resolution::Kind::kGone, {}, found};
  if (painless_ == Painless::kMissing) return seize_plainly(found, by, adoption);
  const std::string doing = "resolving the operation " + found.id;
  // Greater than that of the owner, which drew it before the entry was as found.
  const FencingToken token = adoption == Adoption::kAllowed ? draw(0) : 0;
  const json body = {{"_source", json::array({"*"})},
                     {"script",
                      {{"id", script_id::kJournalSeize},
                       {"params",
                        {{"by", by},
                         {"lease", lease_.count()},
                         {"adopt", adoption == Adoption::kAllowed},
                         {"seen", found.version.number}}}}}};
  const HttpResponse response = client_.send(doing, "POST", document_path(found.id, "_update", found.version),
                                             dumped(body), {kNotFound, kConflict});
  if (response.status == kNotFound || response.status == kConflict) throw has_changed(found);
  const json reply = parse_reply(doing, response);
  const json source = written_fields(found.id, reply);
  Operation entry = read_operation(found.id, source, version_of(reply));
  const std::string answer =
      StoredObject(place_of_operation(found.id), source).text_if_any("answer").value_or("");
  if (answer == "alive") return {Resolution::Kind::kAlive, entry.lease_until, {}};
  if (answer == "dead") return {Resolution::Kind::kNeedsRollForward, entry.lease_until, std::move(entry)};
  if (!answer.empty()) throw unknown_value("the outcome of the operation " + found.id, "answer", answer);
  if (entry.resolved()) return {Resolution::Kind::kGone, {}, std::move(entry)};
  entry.token = token;
  entry.commit = found.commit;
  return {Resolution::Kind::kAdopted, entry.lease_until, std::move(entry)};
}

Resolution ElasticsearchJournal::seize_plainly(const Operation& found, const std::string& by,
                                               Adoption adoption) {
  if (found.lease_until >= read_server_time(client_))
    return {Resolution::Kind::kAlive, found.lease_until, {}};
  const bool adopts = found.state == OperationState::kRunning && found.needs_roll_forward();
  if (adopts && adoption == Adoption::kRefused)
    return {Resolution::Kind::kNeedsRollForward, found.lease_until, found};
  Operation changed = found;
  changed.owner = by;
  if (adopts) {
    changed.epoch += 1;
    changed.token = draw(0);
  } else {
    changed.state = OperationState::kAborted;
    changed.reason = "its lease ran out";
  }
  std::optional<Operation> written = write(changed, found.version);
  if (!written) throw has_changed(found);
  return {adopts ? Resolution::Kind::kAdopted : Resolution::Kind::kGone, written->lease_until,
          std::move(written)};
}

bool ElasticsearchJournal::abort(const Operation& found, const std::string& by, const std::string& reason) {
  Operation changed = found;
  changed.owner = by;
  changed.state = OperationState::kAborted;
  changed.reason = reason;
  BulkCall bulk(index_);
  bulk.add("index", found.id, {{"if_seq_no", found.version.number}, {"if_primary_term", found.version.term}},
           whole_document(changed));
  return bulk.send(client_, "aborting the operation " + found.id).at(0).status != kConflict;
}

std::optional<Operation> ElasticsearchJournal::find(const std::string& id) {
  const std::optional<json> reply = get_document(client_, "reading the operation " + id, index_, id);
  if (!reply) return std::nullopt;
  return read_operation(id, stored_source(place_of_operation(id), *reply), version_of(*reply));
}

json ElasticsearchJournal::search(const json& query, std::size_t size) {
  const std::string doing = "searching the journal";
  client_.refresh(index_);
  const json body = {
      {"query", query},
      {"size", size},
      {"seq_no_primary_term", true},
      // An index that a write has made again may lack the mapping (lock_index.h).
      {"sort", json::array({{{"lease_until", {{"order", "asc"}, {"unmapped_type", "long"}}}}})}};
  const json reply =
      client_.send_json(doing, "POST", "/" + percent_encoded(index_) + "/_search", dumped(body));
  if (integer_at(object_at(reply, "_shards"), "failed") != 0) {
    throw Error({doing, "not all shards answered", "wait until the index is green or yellow", Retry::kLater,
                 Server::kElasticsearch});
  }
  return object_at(reply, "hits").value("hits", json::array());
}

std::vector<Operation> ElasticsearchJournal::unresolved(const Unreadable& unreadable) {
  std::vector<Operation> operations;
  for (const json& hit : search(not_ended(), kMaxUnresolved)) {
    const std::string id = text_at(hit, "_id");
    try {
      operations.push_back(read_operation(id, stored_source(place_of_operation(id), hit), version_of(hit)));
    } catch (const Error& error) {
      unreadable(error);
    }
  }
  return operations;
}

void ElasticsearchJournal::erase(const Operation& operation) {
  client_.send("removing the operation " + operation.id + " from the journal", "DELETE",
               document_path(operation.id, "_doc", operation.version), {}, {kNotFound, kConflict});
}

void ElasticsearchJournal::prune(std::chrono::milliseconds age) {
  const ServerTime now = read_server_time(client_);
  const json query = {
      {"bool",
       {{"filter", json::array({{{"terms", {{"state", {"done", "aborted"}}}}},
                                {{"range", {{"lease_until", {{"lt", milliseconds_of(now - age)}}}}}}})}}}};
  while (true) {
    const json hits = search(query, kPrunePage);
    BulkCall bulk(index_);
    for (const json& hit : hits) {
      const JournalVersion version = version_of(hit);
      bulk.add("delete", text_at(hit, "_id"),
               {{"if_seq_no", version.number}, {"if_primary_term", version.term}}, nullptr);
    }
    bulk.send(client_, "pruning the journal");
    if (hits.size() < kPrunePage) return;
  }
}

}  // namespace lockstep
