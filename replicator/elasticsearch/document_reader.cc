#include "replicator/elasticsearch/document_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "replicator/elasticsearch/error_reply.h"
#include "replicator/elasticsearch/scroll.h"
#include "replicator/elasticsearch/text_encoding.h"

namespace lockstep {
namespace {

namespace ondemand = simdjson::ondemand;
namespace dom = simdjson::dom;
using simdjson::SUCCESS;

constexpr std::size_t kFetchPage = 500;

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

/// One element of a multi-get's reply.
struct FetchedDocument {
  StoredDocument document;
  bool found = false;
  std::string_view error;  ///< raw JSON; empty: none
};

/// False when it is not what a multi-get replies.
bool read_fetched(ondemand::value value, FetchedDocument& fetched) {
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
      code = field.value().get_int64().get(fetched.document.version);
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
    ondemand::value value;
    FetchedDocument fetched;
    // NOLINTNEXTLINE(performance-move-const-arg): get() is for temporaries only
    if (std::move(element).get(value) != SUCCESS || position == wanted.size() ||
        !read_fetched(value, fetched) || fetched.document.id != wanted[position].id) {
      throw unreadable(doing);
    }
    if (!fetched.error.empty()) {
      const ErrorCause cause = read_error_reply("{\"error\":" + std::string(fetched.error) + "}");
      const bool missing = cause.type == "index_not_found_exception";
      const bool never = missing || cause.type == "routing_missing_exception";
      throw Error({doing, cause.type + ": " + cause.reason, missing ? "run `lockstep apply`" : "",
                   never ? Retry::kNever : Retry::kLater, Server::kElasticsearch});
    }
    if (fetched.found && fetched.document.source.empty()) {
      throw Error({doing, "the index does not keep the documents' _source", "enable _source in the mapping"});
    }
    sink(position++, fetched.found ? std::optional(fetched.document) : std::nullopt);
  }
  if (position != wanted.size()) throw unreadable(doing);
}

std::string scan_body(const ScanOptions& options) {
  std::string body =
      R"({"sort":["_doc"],"_source":false,"version":true,"size":)" + std::to_string(options.page);
  if (options.slices > 1) {
    body += ",\"slice\":{\"id\":" + std::to_string(options.slice) +
            ",\"max\":" + std::to_string(options.slices) + "}";
  }
  return body += '}';
}

bool read_hit(dom::element hit, StoredDocument& document) {
  if (hit["_id"].get(document.id) != SUCCESS || hit["_version"].get(document.version) != SUCCESS)
    return false;
  dom::element routing;
  return hit["_routing"].get(routing) != SUCCESS || routing.get(document.routing) == SUCCESS;
}

/// The page's documents, with views into the parser's memory; empty at the end of the scan.
std::vector<StoredDocument> read_page(const std::string& doing, dom::parser& parser,
                                      const HttpResponse& response, Scroll& scroll) {
  dom::element reply;
  std::string_view id;
  if (parser.parse(response.body).get(reply) != SUCCESS || reply["_scroll_id"].get(id) != SUCCESS) {
    throw unreadable(doing);
  }
  scroll.has_id(id);
  std::int64_t failed = 0;
  bool timed_out = false;
  if (reply["_shards"]["failed"].get(failed) != SUCCESS || reply["timed_out"].get(timed_out) != SUCCESS) {
    throw unreadable(doing);
  }
  if (failed > 0 || timed_out) {
    throw Error({doing, "not all shards answered", "begin again when the index is green or yellow",
                 Retry::kLater, Server::kElasticsearch});
  }
  std::vector<StoredDocument> page;
  dom::array hits;
  // A filter that matches nothing leaves the array out.
  if (reply["hits"]["hits"].get(hits) != SUCCESS) return page;
  page.reserve(hits.size());
  for (const dom::element hit : hits) {
    StoredDocument document;
    if (!read_hit(hit, document)) throw unreadable(doing);
    page.push_back(document);
  }
  return page;
}

}  // namespace

void fetch_documents(ElasticsearchClient& client, const std::string& alias,
                     std::span<const DocumentLocation> wanted,
                     const std::function<void(std::size_t, const std::optional<StoredDocument>&)>& sink) {
  const std::string doing = "reading documents of " + alias;
  const std::string path = "/" + percent_encoded(alias) + "/_mget";
  ondemand::parser parser;
  for (std::size_t begin = 0; begin < wanted.size(); begin += kFetchPage) {
    const auto page = wanted.subspan(begin, std::min(kFetchPage, wanted.size() - begin));
    fetch_page(client, doing, path, page, parser,
               [&](std::size_t position, const std::optional<StoredDocument>& document) {
                 sink(begin + position, document);
               });
  }
}

class DocumentScan::Impl {
 public:
  Impl(ElasticsearchClient& client, const std::string& alias, const ScanOptions& options)
      : client_(client), doing_("scanning " + alias), alias_(alias), options_(options), scroll_(client) {}

  std::span<const StoredDocument> next() {
    const std::string filter =
        "filter_path=_scroll_id,timed_out,_shards.failed,hits.hits._id,hits.hits._routing,hits.hits._version";
    HttpResponse response;
    if (!begun_) {
      begun_ = true;
      response =
          client_.send(doing_, "POST",
                       "/" + percent_encoded(alias_) + "/_search?scroll=" + std::string(kScrollLifetime) +
                           "&allow_partial_search_results=false&" + filter,
                       scan_body(options_));
    } else {
      response = client_.send(doing_, "POST", "/_search/scroll?" + filter, scroll_.next_body(), {404, 500});
      if (response.status >= 400) {
        throw Error({doing_, reply_error(doing_, response).parts().cause, "the scan has to begin again",
                     Retry::kLater, Server::kElasticsearch});
      }
    }
    page_ = read_page(doing_, parser_, response, scroll_);
    return page_;
  }

 private:
  ElasticsearchClient& client_;
  const std::string doing_;
  const std::string alias_;
  const ScanOptions options_;
  Scroll scroll_;
  dom::parser parser_;  // owns what page_ points into
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
