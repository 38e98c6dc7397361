#include "replicator/elasticsearch/read/document_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "replicator/document_limits.h"
#include "replicator/elasticsearch/read/scroll.h"
#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/json_string.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

constexpr std::size_t kFetchPage = 500;
constexpr std::size_t kCountPage = 10'000;

Error unreadable(const std::string& doing) {
  return Error({doing, "the reply is not complete JSON or not what was asked for",
                "is there a proxy in between?", Retry::kLater, Server::kElasticsearch});
}

std::string fetch_body(std::span<const DocumentLocation> wanted) {
  std::string body = "{\"docs\":[";
  for (const DocumentLocation& location : wanted) {
    if (body.back() == '}') body += ',';
    body += "{\"_id\":";
    append_json_string(body, location.id);
    if (!location.routing.empty()) {
      body += ",\"routing\":";
      append_json_string(body, location.routing);
    }
    body += '}';
  }
  return body += "]}";
}

// No document has another name, and one such name would let the server refuse the whole request.
bool can_be_asked_for(const DocumentLocation& location) {
  return can_be_document_id(location.id) && is_utf8(location.routing);
}

std::string count_body(std::span<const DocumentLocation> wanted) {
  std::string body = R"({"size":0,"track_total_hits":true,"query":{"ids":{"values":[)";
  for (const DocumentLocation& location : wanted) {
    if (!can_be_asked_for(location)) continue;
    if (body.back() != '[') body += ',';
    append_json_string(body, location.id);
  }
  return body += "]}}}";
}

/// One element of a multi-get's reply, or one hit of a scan.
struct FetchedDocument {
  StoredDocument document;
  bool found = false;  ///< by a multi-get
  bool has_version = false;
  std::string_view error;  ///< raw JSON; empty: none
};

/// False when `value` is neither.
bool read_fetched(simdjson::simdjson_result<ondemand::value> value, FetchedDocument& fetched) {
  ondemand::object fields;
  if (value.get_object().get(fields) != SUCCESS) return false;
  for (auto field_or_error : fields) {
    ondemand::field field;
    std::string_view name;
    if (std::move(field_or_error).get(field) != SUCCESS || field.unescaped_key().get(name) != SUCCESS)
      return false;
    simdjson::error_code code = SUCCESS;
    if (name == "_id") {
      code = field.value().get_string().get(fetched.document.id);
    } else if (name == "_routing") {
      code = field.value().get_string().get(fetched.document.routing);
    } else if (name == "_version") {
      std::int64_t version = 0;
      code = field.value().get_int64().get(version);
      fetched.document.version = DocumentVersion::from_value(version);
      fetched.has_version = true;
    } else if (name == "found") {
      code = field.value().get_bool().get(fetched.found);
    } else if (name == "_source" || name == "error") {
      ondemand::object object;
      code = field.value().get_object().get(object);
      if (code == SUCCESS) {
        code = object.raw_json().get(name == "error" ? fetched.error : fetched.document.source);
      }
    }
    if (code != SUCCESS) return false;
  }
  return true;
}

void require_source(const std::string& doing, const StoredDocument& document) {
  if (!document.source.empty()) return;
  throw Error({doing, "the index does not keep the documents' _source", "enable _source in the mapping",
               Retry::kNever, Server::kElasticsearch});
}

void fetch_page(ElasticsearchClient& client, const std::string& doing, const std::string& path,
                std::span<const DocumentLocation> wanted, ondemand::parser& parser,
                const std::function<void(std::size_t, const std::optional<StoredDocument>&)>& sink) {
  HttpResponse response = client.send(doing, "POST", path, fetch_body(wanted));
  response.body.reserve(response.body.size() + simdjson::SIMDJSON_PADDING);
  ondemand::document reply;
  ondemand::array documents;
  if (parser.iterate(response.body).get(reply) != SUCCESS ||
      reply["docs"].get_array().get(documents) != SUCCESS) {
    throw unreadable(doing);
  }
  std::size_t position = 0;
  for (auto element : documents) {
    FetchedDocument fetched;
    if (position == wanted.size() || !read_fetched(element, fetched) ||
        fetched.document.id != wanted[position].id) {
      throw unreadable(doing);
    }
    if (!fetched.error.empty()) {
      const ErrorCause cause = read_error_reply("{\"error\":" + std::string(fetched.error) + "}");
      const bool missing = cause.type == "index_not_found_exception";
      const bool never = missing || cause.type == "routing_missing_exception";
      throw Error({doing, cause.type + ": " + cause.reason, missing ? "run `lockstep apply`" : "",
                   never ? Retry::kNever : Retry::kLater, Server::kElasticsearch});
    }
    if (fetched.found && !fetched.has_version) throw unreadable(doing);
    if (fetched.found) require_source(doing, fetched.document);
    sink(position++, fetched.found ? std::optional(fetched.document) : std::nullopt);
  }
  if (position != wanted.size()) throw unreadable(doing);
}

/// Throws when not all shards have answered.
void require_all_shards(const std::string& doing, ondemand::document& reply) {
  bool timed_out = false;
  std::int64_t failed = 0;
  if (reply["timed_out"].get_bool().get(timed_out) != SUCCESS ||
      reply["_shards"]["failed"].get_int64().get(failed) != SUCCESS) {
    throw unreadable(doing);
  }
  if (failed > 0 || timed_out) {
    throw Error({doing, "not all shards answered", "begin again when the index is green or yellow",
                 Retry::kLater, Server::kElasticsearch});
  }
}

std::string scan_body(const ScanOptions& options) {
  std::string body = R"({"sort":["_doc"],"version":true,"_source":)" +
                     std::string(options.sources ? "true" : "false") +
                     ",\"size\":" + std::to_string(options.page);
  if (options.slices > 1) {
    body += ",\"slice\":{\"id\":" + std::to_string(options.slice) +
            ",\"max\":" + std::to_string(options.slices) + "}";
  }
  return body += '}';
}

}  // namespace

void fetch_documents(ElasticsearchClient& client, const std::string& alias,
                     std::span<const DocumentLocation> wanted,
                     const std::function<void(std::size_t, const std::optional<StoredDocument>&)>& sink) {
  const std::string doing = "reading documents of " + alias;
  const std::string path = "/" + percent_encoded(alias) + "/_mget";
  std::vector<DocumentLocation> asked;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!can_be_asked_for(wanted[i])) continue;
    asked.push_back(wanted[i]);
    positions.push_back(i);
  }
  std::size_t told = 0;
  const auto tell_missing_until = [&](std::size_t end) {
    while (told < end) sink(told++, std::nullopt);
  };
  ondemand::parser parser;
  for (std::size_t begin = 0; begin < asked.size(); begin += kFetchPage) {
    const auto page = std::span(asked).subspan(begin, std::min(kFetchPage, asked.size() - begin));
    fetch_page(client, doing, path, page, parser,
               [&](std::size_t position, const std::optional<StoredDocument>& document) {
                 tell_missing_until(positions[begin + position]);
                 sink(told++, document);
               });
  }
  tell_missing_until(wanted.size());
}

std::int64_t count_documents(ElasticsearchClient& client, const std::string& alias,
                             std::span<const DocumentLocation> wanted) {
  const std::string doing = "counting documents of " + alias;
  // The request cache is for requests that come again.
  const std::string path =
      "/" + percent_encoded(alias) + "/_search?request_cache=false&allow_partial_search_results=false";
  ondemand::parser parser;
  std::int64_t count = 0;
  for (std::size_t begin = 0; begin < wanted.size(); begin += kCountPage) {
    const auto page = wanted.subspan(begin, std::min(kCountPage, wanted.size() - begin));
    HttpResponse response = client.send(doing, "POST", path, count_body(page));
    response.body.reserve(response.body.size() + simdjson::SIMDJSON_PADDING);
    ondemand::document reply;
    if (parser.iterate(response.body).get(reply) != SUCCESS) throw unreadable(doing);
    require_all_shards(doing, reply);
    std::int64_t found = 0;
    if (reply["hits"]["total"]["value"].get_int64().get(found) != SUCCESS) throw unreadable(doing);
    count += found;
  }
  return count;
}

class DocumentScan::Impl {
 public:
  Impl(ElasticsearchClient& client, const std::string& alias, const ScanOptions& options)
      : client_(client),
        doing_("scanning " + alias),
        alias_(alias),
        options_(options),
        scroll_(client, options.lifetime) {}

  std::span<const StoredDocument> next() {
    if (!begun_) {
      begun_ = true;
      begin();
    } else {
      response_ =
          client_.send(doing_, "POST", "/_search/scroll" + filter('?'), scroll_.next_body(), {404, 500});
      if (response_.status >= 400) {
        throw Error({doing_, reply_error(doing_, response_).parts().cause, "the scan has to begin again",
                     Retry::kLater, Server::kElasticsearch});
      }
    }
    read_page();
    return page_;
  }

 private:
  // The index may allow less on a page than was asked for (index.max_result_window), and says so by a mere
  // 400.
  void begin() {
    const std::string path = "/" + percent_encoded(alias_) + "/_search?scroll=" + scroll_.lifetime() +
                             "&allow_partial_search_results=false" + filter('&');
    while (options_.page > 1) {
      response_ = client_.send(doing_, "POST", path, scan_body(options_), {400});
      if (response_.status != 400) return;
      options_.page /= 2;
    }
    response_ = client_.send(doing_, "POST", path, scan_body(options_));
  }

  // With sources the server would parse and write each of them again to filter it.
  std::string filter(char separator) const {
    if (options_.sources) return {};
    return separator + std::string(
                           "filter_path=_scroll_id,timed_out,_shards.failed,hits.hits._id,hits.hits._routing,"
                           "hits.hits._version");
  }

  void read_page() {
    page_.clear();
    response_.body.reserve(response_.body.size() + simdjson::SIMDJSON_PADDING);
    ondemand::document reply;
    std::string_view id;
    if (parser_.iterate(response_.body).get(reply) != SUCCESS ||
        reply["_scroll_id"].get_string().get(id) != SUCCESS) {
      throw unreadable(doing_);
    }
    scroll_.has_id(id);
    require_all_shards(doing_, reply);
    ondemand::array hits;
    // A filter that matches nothing leaves the array out.
    const simdjson::error_code code = reply["hits"]["hits"].get_array().get(hits);
    if (code == simdjson::NO_SUCH_FIELD && !options_.sources) return;
    if (code != SUCCESS) throw unreadable(doing_);
    for (auto hit : hits) {
      FetchedDocument fetched;
      if (!read_fetched(hit, fetched) || fetched.document.id.empty() || !fetched.has_version) {
        throw unreadable(doing_);
      }
      if (options_.sources) require_source(doing_, fetched.document);
      page_.push_back(fetched.document);
    }
  }

  ElasticsearchClient& client_;
  const std::string doing_;
  const std::string alias_;
  ScanOptions options_;
  Scroll scroll_;
  ondemand::parser parser_;
  HttpResponse response_;  // what page_ points into, with the parser
  std::vector<StoredDocument> page_;
  bool begun_ = false;
};

DocumentScan::DocumentScan(ElasticsearchClient& client, const std::string& alias, const ScanOptions& options)
    : impl_(std::make_unique<Impl>(client, alias, options)) {}
DocumentScan::~DocumentScan() = default;
std::span<const StoredDocument> DocumentScan::next() {
  return impl_->next();
}

void scan_documents(ElasticsearchClient& client, const std::string& alias, const ScanOptions& options,
                    const std::function<void(std::span<const StoredDocument>)>& sink) {
  DocumentScan scan(client, alias, options);
  for (auto page = scan.next(); !page.empty(); page = scan.next()) sink(page);
}

}  // namespace lockstep
