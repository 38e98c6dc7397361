#include "replicator/elasticsearch/admin/client.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include "replicator/elasticsearch/admin/cluster_change.h"
#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr int kBadRequest = 400;
constexpr int kMethodNotAllowed = 405;

/// "7.10.2" → {7, 10}; 0 for anything but a number.
std::pair<int, int> major_and_minor(const std::string& version) {
  std::pair<int, int> numbers;
  const char* const end = version.data() + version.size();
  const auto dot = std::from_chars(version.data(), end, numbers.first).ptr;
  if (dot != end) std::from_chars(dot + 1, end, numbers.second);
  return numbers;
}

/// A path segment that names exactly one index or alias. A name that Elasticsearch would take for several
/// never leaves the program, so no call can delete more than it should.
std::string path_of(const std::string& doing, const std::string& name) {
  const bool several = name.empty() || name == "_all" || name.find_first_of("*?,<>") != std::string::npos ||
                       name.front() == '-' || name.front() == '_';
  if (several) throw Error({doing, "\"" + name + "\" is not the name of one index", "choose another alias"});
  return "/" + percent_encoded(name);
}

IndexState index_state(const std::string& name, const json& reply) {
  IndexState state;
  state.name = name;
  state.alias_options = object_at(reply, "aliases");
  for (const auto& alias : state.alias_options.items()) {
    state.aliases.push_back(alias.key());
    for (const char* const narrows : {"filter", "index_routing", "search_routing"}) {
      if (!alias.value().contains(narrows)) continue;
      state.narrow_aliases.push_back(alias.key());
      break;
    }
  }
  state.mappings = object_at(reply, "mappings");
  state.settings = object_at(reply, "settings");
  state.uuid = text_at(state.settings, "index.uuid");
  return state;
}

std::vector<IndexState> index_states(const json& reply) {
  std::vector<IndexState> states;
  for (const auto& index : reply.items()) states.push_back(index_state(index.key(), index.value()));
  return states;
}

}  // namespace

std::string EngineInfo::text() const {
  return (distribution == Distribution::kElasticsearch ? "Elasticsearch " : "OpenSearch ") + version;
}

bool EngineInfo::supported() const {
  const std::pair<int, int> numbers = major_and_minor(version);
  if (distribution == Distribution::kOpenSearch) return numbers.first == 2 || numbers.first == 3;
  return numbers >= std::pair(7, 10) && numbers.first <= 9;
}

ElasticsearchClient::ElasticsearchClient(std::unique_ptr<HttpTransport> transport,
                                         std::chrono::milliseconds timeout, WhenBusy when_busy)
    : transport_(std::move(transport)), timeout_(timeout), when_busy_(std::move(when_busy)) {}

EngineInfo ElasticsearchClient::info() {
  const std::string doing = "asking which engine this is";
  const HttpResponse response = send(doing, "GET", "/", {}, {kMethodNotAllowed, kNotFound});
  if (response.status == kNotFound) {
    if (read_error_reply(response.body).type != "index_not_found_exception")
      throw reply_error(doing, response);
    throw Error({doing, "the path of " + response.server + " is taken for the name of an index",
                 "remove the index from [elasticsearch] urls"});
  }
  EngineInfo info;
  if (response.status != kMethodNotAllowed) {
    const json reply = parse_reply(doing, response);
    const json version = object_at(reply, "version");
    const bool opensearch = text_at(version, "distribution") == "opensearch";
    info.distribution =
        opensearch ? EngineInfo::Distribution::kOpenSearch : EngineInfo::Distribution::kElasticsearch;
    info.version = text_at(version, "number");
    info.cluster_name = text_at(reply, "cluster_name");
    info.cluster_uuid = text_at(reply, "cluster_uuid");
  } else {
    // Builds of Elasticsearch without the module that serves "/".
    const json nodes = send_json(doing, "GET", "/_nodes/_local?filter_path=cluster_name,nodes.*.version");
    const json state = send_json(doing, "GET", "/_cluster/state/version?filter_path=cluster_uuid");
    info.cluster_name = text_at(nodes, "cluster_name");
    for (const auto& node : object_at(nodes, "nodes")) info.version = text_at(node, "version");
    info.cluster_uuid = text_at(state, "cluster_uuid");
  }
  if (info.version.empty() || info.cluster_uuid.empty()) {
    throw Error({doing, "the server at " + response.server + " does not answer as Elasticsearch does",
                 "check [elasticsearch] urls"});
  }
  return info;
}

std::vector<IndexState> ElasticsearchClient::indices_of(const std::string& name) {
  const std::string doing = "looking up " + name;
  const HttpResponse response =
      send(doing, "GET", path_of(doing, name) + "?flat_settings=true", {}, {kNotFound});
  if (response.status == kNotFound) {
    if (read_error_reply(response.body).type != "index_not_found_exception")
      throw reply_error(doing, response);
    return {};
  }
  return index_states(parse_reply(doing, response));
}

std::vector<IndexState> ElasticsearchClient::generations(const std::string& alias) {
  const std::string doing = "listing the indices of " + alias;
  const json reply =
      send_json(doing, "GET", path_of(doing, alias) + "-*?flat_settings=true&expand_wildcards=all");
  std::vector<IndexState> states = index_states(reply);
  std::erase_if(states, [&](const IndexState& state) { return generation_number(alias, state.name) == 0; });
  std::sort(states.begin(), states.end(), [&](const IndexState& a, const IndexState& b) {
    return generation_number(alias, a.name) < generation_number(alias, b.name);
  });
  return states;
}

void ElasticsearchClient::create_index(const std::string& index, const json& body) {
  const std::string doing = "creating index " + index;
  change_cluster(*this, doing, "PUT", path_of(doing, index), body.dump());
}

void ElasticsearchClient::delete_index(const std::string& index) {
  const std::string doing = "deleting index " + index;
  change_cluster(*this, doing, "DELETE", path_of(doing, index));
}

void ElasticsearchClient::put_mapping(const std::string& index, const json& mappings) {
  const std::string doing = "changing the mapping of index " + index;
  change_cluster(*this, doing, "PUT", path_of(doing, index) + "/_mapping", mappings.dump());
}

void ElasticsearchClient::put_settings(const std::string& index, const json& settings) {
  const std::string doing = "changing the settings of index " + index;
  change_cluster(*this, doing, "PUT", path_of(doing, index) + "/_settings", settings.dump());
}

void ElasticsearchClient::refresh(const std::string& alias) {
  refresh(std::vector{alias});
}

void ElasticsearchClient::refresh(const std::vector<std::string>& aliases) {
  std::string doing = "refreshing";
  for (const std::string& alias : aliases) doing += " " + alias;
  std::string path;
  for (const std::string& alias : aliases) {
    path += path.empty() ? path_of(doing, alias) : "," + path_of(doing, alias).substr(1);
  }
  if (!path.empty()) send(doing, "POST", path + "/_refresh");
}

std::int64_t ElasticsearchClient::count(const std::string& alias) {
  const std::string doing = "counting the documents of " + alias;
  const json reply = send_json(doing, "GET", path_of(doing, alias) + "/_count");
  const std::optional<std::int64_t> count = integer_at(reply, "count");
  if (!count || !is_of_all_shards(reply)) {
    throw Error({doing, "not all shards answered", "wait until the index is green or yellow", Retry::kLater,
                 Server::kElasticsearch});
  }
  return *count;
}

std::optional<std::int64_t> ElasticsearchClient::average_stored_size(const std::string& alias) {
  const std::string doing = "asking for the size of " + alias;
  const HttpResponse response = send(doing, "GET", path_of(doing, alias) + "/_stats/docs,store", {}, {403});
  if (response.status == 403) return std::nullopt;
  const json primaries = object_at(object_at(parse_reply(doing, response), "_all"), "primaries");
  const json docs = object_at(primaries, "docs");
  const std::optional<std::int64_t> documents = integer_at(docs, "count");
  const std::optional<std::int64_t> bytes = integer_at(object_at(primaries, "store"), "size_in_bytes");
  if (!documents || !bytes || *documents == 0 || *bytes == 0) return std::nullopt;
  // Replaced and deleted documents are stored until a merge, and take about as much.
  return *bytes / (*documents + integer_at(docs, "deleted").value_or(0));
}

HttpResponse ElasticsearchClient::send(const std::string& doing, const std::string& method,
                                       const std::string& path, std::string_view body,
                                       std::initializer_list<int> accepted) {
  BusyWait wait(when_busy_);
  while (true) {
    HttpResponse response = exchange(doing, method, path, body);
    const bool wanted = is_2xx(response.status) ||
                        std::find(accepted.begin(), accepted.end(), response.status) != accepted.end();
    if (wanted) return response;
    if (!is_busy(response)) throw reply_error(doing, response);
    wait.before_next_try(reply_error(doing, response));
  }
}

HttpResponse ElasticsearchClient::exchange(const std::string& doing, const std::string& method,
                                           const std::string& path, std::string_view body,
                                           std::size_t most_reply_bytes) {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.body = body;
  request.timeout = timeout_;
  request.most_reply_bytes = most_reply_bytes;
  try {
    return transport_->perform(request);
  } catch (const ReplyTooLarge&) {
    throw;  // only for callers that have bounded it
  } catch (const TransportError& error) {
    throw Error({doing, error.what(), "", Retry::kLater, Server::kElasticsearch});
  }
}

json ElasticsearchClient::send_json(const std::string& doing, const std::string& method,
                                    const std::string& path, std::string_view body) {
  return parse_reply(doing, send(doing, method, path, body));
}

void make_unless_there(ElasticsearchClient& client, const std::string& doing, const std::string& method,
                       const std::string& path, const json& body) {
  const HttpResponse response = client.send(doing, method, path, body.dump(), {kBadRequest});
  if (response.status == kBadRequest &&
      read_error_reply(response.body).type != "resource_already_exists_exception") {
    throw reply_error(doing, response);
  }
}

bool is_2xx(int status) {
  return status >= 200 && status <= 299;
}

bool is_busy(const HttpResponse& response) {
  return response.status == 429 || response.status == 503 ||
         (!is_2xx(response.status) && read_error_reply(response.body).breaker);
}

Error reply_error(const std::string& doing, const HttpResponse& response) {
  const ErrorCause cause = read_error_reply(response.body);
  std::string text = "HTTP " + std::to_string(response.status);
  if (!response.server.empty()) text += " from " + response.server;
  if (!cause.type.empty()) text += " " + cause.type;
  if (!cause.reason.empty()) text += ": " + cause.reason;

  const int status = response.status;
  if (cause.type == "cluster_block_exception") {
    return Error(
        {doing, std::move(text), remedy_of_blocks(cause.reason), Retry::kLater, Server::kElasticsearch});
  }
  std::string remedy;
  if (status == 401) remedy = "check the credentials in [elasticsearch]";
  if (status == 403) remedy = "grant the user of [elasticsearch] the privilege";
  if (cause.type == "index_not_found_exception") remedy = "run `lockstep apply`";
  return Error({doing, std::move(text), std::move(remedy),
                may_work_later(status) || cause.breaker ? Retry::kLater : Retry::kNever,
                Server::kElasticsearch});
}

json parse_reply(const std::string& doing, const HttpResponse& response) {
  json reply = json::parse(response.body, nullptr, false);
  if (reply.is_discarded() || !reply.is_object()) {
    throw Error({doing, "the reply of " + response.server + " is not complete JSON",
                 "is there a proxy in between?", Retry::kLater, Server::kElasticsearch});
  }
  return reply;
}

std::int64_t generation_number(std::string_view alias, std::string_view index) {
  if (index.size() < alias.size() + 7 || index.substr(0, alias.size()) != alias || index[alias.size()] != '-')
    return 0;
  const std::string_view digits = index.substr(alias.size() + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && number > 0 ? number : 0;
}

std::string generation_name(std::string_view alias, std::int64_t number) {
  char suffix[24];
  std::snprintf(suffix, sizeof suffix, "-%06lld", static_cast<long long>(number));
  return std::string(alias) + suffix;
}

}  // namespace lockstep
