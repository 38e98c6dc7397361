#include "tests/support/elasticsearch_index.h"

#include <algorithm>
#include <iostream>
#include <stdexcept>

#include "tests/support/index_reader.h"
#include "tests/support/random_seed.h"
#include "tests/support/servers.h"

namespace lockstep::support {
namespace {

using Json = nlohmann::json;

}  // namespace

ElasticsearchServer::Reply ElasticsearchServer::request(const std::string& method, const std::string& path,
                                                        std::string_view body) {
  const HostAndPort server = host_and_port(elasticsearch_url());
  HttpMessage request{
      method + " " + path + " HTTP/1.1",
      {{"host", server.host + ":" + std::to_string(server.port)}, {"content-type", "application/json"}},
      std::string(body)};
  for (const bool fresh : {false, true}) {
    if (stream_ == nullptr) stream_ = std::make_unique<HttpStream>(HttpStream::connect(server));
    try {
      stream_->write_request(request);
      HttpMessage response = stream_->read_response(method);
      return {response.status(), std::move(response.body)};
    } catch (const HttpStreamError&) {
      stream_.reset();  // perhaps a kept connection that the server has closed meanwhile
      if (fresh) throw;
    }
  }
  return {};
}

Json ElasticsearchServer::expect(const std::string& method, const std::string& path, std::string_view body) {
  const Reply reply = request(method, path, body);
  if (reply.status < 200 || reply.status > 299) {
    throw std::runtime_error(method + " " + path + ": " + std::to_string(reply.status) + " " + reply.body);
  }
  return reply.body.empty() ? Json() : reply.json();
}

std::string ElasticsearchServer::version() {
  const Reply reply = request("GET", "/");
  if (reply.status != 200) return "";
  const Json version = reply.json().at("version");
  return version.value("distribution", "elasticsearch") + " " + version.at("number").get<std::string>();
}

ElasticsearchIndex::ElasticsearchIndex(std::string_view purpose)
    : alias_("test-" + std::string(purpose) + "-" + random_name()) {}

ElasticsearchIndex::~ElasticsearchIndex() {
  try {
    bool locks = false;
    for (const std::string& index : concrete()) {
      server_.expect("DELETE", "/" + index);
      locks = locks || index.ends_with("-journal");
    }
    if (locks) server_.request("DELETE", "/_index_template/" + alias_ + "*");
  } catch (const std::exception& error) {
    std::cerr << "could not delete the indices of " << alias_ << ": " << error.what() << '\n';
  }
}

std::vector<std::string> ElasticsearchIndex::concrete() const {
  std::vector<std::string> names;
  const Json settings =
      server_.expect("GET", "/" + alias_ + "*/_settings?expand_wildcards=open,closed,hidden");
  for (const auto& [name, value] : settings.items()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::int64_t ElasticsearchIndex::count() const {
  server_.expect("POST", "/" + alias_ + "/_refresh");
  return server_.expect("GET", "/" + alias_ + "/_count").at("count").get<std::int64_t>();
}

StoredDocuments ElasticsearchIndex::documents() const {
  return read_index(server_, alias_);
}

std::optional<StoredDocument> ElasticsearchIndex::get(const std::string& id,
                                                      const std::string& routing) const {
  Json address{{"_index", alias_}, {"_id", id}};
  if (!routing.empty()) address["routing"] = routing;
  const ElasticsearchServer::Reply reply =
      server_.request("POST", "/_mget", Json{{"docs", {address}}}.dump());
  if (reply.status != 200) throw std::runtime_error("getting " + id + ": " + reply.body);
  const Json body = reply.json();
  const Json& document = body.at("docs").at(0);
  if (document.contains("error")) throw std::runtime_error("getting " + id + ": " + document.dump());
  if (!document.at("found").get<bool>()) return std::nullopt;
  return stored_document(document, raw_sources(reply.body).at(0));
}

void ElasticsearchIndex::damage(const std::string& id, const std::optional<std::string>& json,
                                const std::string& routing) {
  Json address{{"_index", alias_}, {"_id", id}};
  if (!routing.empty()) address["routing"] = routing;
  const std::string body =
      Json{{json ? "index" : "delete", address}}.dump() + "\n" + (json ? *json + "\n" : "");
  const Json reply = server_.expect("POST", "/_bulk?refresh=true", body);
  if (reply.at("errors").get<bool>()) throw std::runtime_error("damaging " + id + ": " + reply.dump());
}

}  // namespace lockstep::support
