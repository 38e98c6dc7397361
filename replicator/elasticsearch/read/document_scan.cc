#include "replicator/elasticsearch/read/document_scan.h"

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "replicator/elasticsearch/read/document_reply.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/quantity.h"

namespace lockstep {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

// The parts of a scan's reply that are read.
const std::string kFilter =
    "filter_path=_scroll_id,timed_out,_shards.failed,hits.total.value,hits.hits._id,hits.hits._routing,"
    "hits.hits._version";

std::string scan_body(const ScanOptions& options) {
  std::string body =
      R"({"sort":["_doc"],"version":true,"_source":false,"size":)" + std::to_string(options.page);
  if (options.slices > 1) {
    body += ",\"slice\":{\"id\":" + std::to_string(options.slice) +
            ",\"max\":" + std::to_string(options.slices) + "}";
  }
  return body += '}';
}

}  // namespace

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
      response_ = client_.send(doing_, "POST", "/_search/scroll?" + kFilter, scroll_.next_body(), {404, 500});
      if (response_.status >= 400) {
        throw Error({doing_, reply_error(doing_, response_).parts().cause, "the scan has to begin again",
                     Retry::kLater, Server::kElasticsearch});
      }
    }
    read_page();
    require_all_documents();
    return page_;
  }

 private:
  // The index may allow less on a page than was asked for (index.max_result_window), and answers with a mere
  // 400.
  void begin() {
    const std::string path = "/" + percent_encoded(alias_) + "/_search?scroll=" + scroll_.lifetime() +
                             "&allow_partial_search_results=false&" + kFilter;
    while (options_.page > 1) {
      response_ = client_.send(doing_, "POST", path, scan_body(options_), {400});
      if (response_.status != 400) return;
      options_.page /= 2;
    }
    response_ = client_.send(doing_, "POST", path, scan_body(options_));
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
    if (reply["hits"]["total"]["value"].get_int64().get(total_) != SUCCESS) throw unreadable(doing_);
    ondemand::array hits;
    // A filter that matches nothing leaves the array out.
    const simdjson::error_code code = reply["hits"]["hits"].get_array().get(hits);
    if (code == simdjson::NO_SUCH_FIELD) return;
    if (code != SUCCESS) throw unreadable(doing_);
    for (auto hit : hits) {
      FetchedDocument fetched;
      if (!read_fetched(hit, fetched) || fetched.document.id.empty() || !fetched.has_version) {
        throw unreadable(doing_);
      }
      page_.push_back(fetched.document);
    }
  }

  // A busy server may have moved on behind a page that it then did not give.
  void require_all_documents() {
    given_ += std::ssize(page_);
    if (!page_.empty() || given_ == total_) return;
    throw Error({doing_, "the server gave " + grouped(given_) + " of " + grouped(total_) + " documents",
                 "the scan has to begin again", Retry::kLater, Server::kElasticsearch});
  }

  ElasticsearchClient& client_;
  const std::string doing_;
  const std::string alias_;
  ScanOptions options_;
  Scroll scroll_;
  ondemand::parser parser_;
  HttpResponse response_;  // page_ points into this, with the parser
  std::vector<StoredDocument> page_;
  std::int64_t given_ = 0;  // documents, on all pages
  std::int64_t total_ = 0;  // documents that the scan has, by the server
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
