// Replies of any content to everything but bulk requests: what is done with them ends with a value or an
// Error.
//
// The input: replies, each two bytes for the HTTP status and a body that ends with a zero byte. They are
// given one after the other, and again from the beginning.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/elasticsearch/admin/privileges.h"
#include "replicator/elasticsearch/read/document_reader.h"
#include "replicator/elasticsearch/read/document_scan.h"

namespace {

using lockstep::ElasticsearchClient;
using lockstep::HttpResponse;

// A scan that never ends is the server's doing, not an error.
constexpr std::size_t kMostRequests = 50;

std::vector<HttpResponse> replies_in(const std::uint8_t* data, std::size_t size) {
  std::vector<HttpResponse> replies;
  for (std::size_t at = 0; at + 2 <= size;) {
    const int status = 100 + (data[at] * 256 + data[at + 1]) % 500;
    at += 2;
    std::string body;
    for (; at < size && data[at] != 0; ++at) body += static_cast<char>(data[at]);
    ++at;
    replies.push_back({status, std::move(body)});
  }
  return replies;
}

class Replies final : public lockstep::HttpTransport {
 public:
  explicit Replies(const std::vector<HttpResponse>& replies) : replies_(replies) {}
  HttpResponse perform(const lockstep::HttpRequest& /*request*/) override {
    if (requests_ == kMostRequests) throw lockstep::TransportError("http://es1:9200: refused", false);
    return replies_[requests_++ % replies_.size()];
  }

 private:
  const std::vector<HttpResponse>& replies_;
  std::size_t requests_ = 0;
};

lockstep::DesiredIndex desired() {
  return {"posts", "search.posts",
          lockstep::parse_mapping("m.json", R"({"mappings":{"properties":{"a":{"type":"text"}}}})"), "shop",
          "7e2f1f7e-0000-4000-8000-000000000000"};
}

void plan_and_apply(ElasticsearchClient& client) {
  const lockstep::IndexPlan plan = lockstep::plan_index(client, desired());
  if (plan.kind == lockstep::IndexPlan::Kind::kCreate || plan.kind == lockstep::IndexPlan::Kind::kUpdate) {
    lockstep::apply_index_plan(client, desired(), plan);
  }
}

void fetch(ElasticsearchClient& client) {
  const std::vector<lockstep::DocumentLocation> wanted = {{"1", ""}, {"2", "a"}};
  lockstep::fetch_documents(client, "posts", wanted, [](std::size_t, const auto&) {});
}

void scan(ElasticsearchClient& client) {
  lockstep::scan_documents(client, "posts", {}, [](std::span<const lockstep::StoredDocument>) {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<HttpResponse> replies = replies_in(data, size);
  if (replies.empty()) return 0;
  const std::function<void(ElasticsearchClient&)> steps[] = {
      [](auto& client) { client.info().text(); },
      [](auto& client) { client.indices_of("posts"); },
      [](auto& client) { client.generations("posts"); },
      [](auto& client) { client.count("posts"); },
      [](auto& client) { lockstep::marked_index(client, "posts"); },
      [](auto& client) {
        lockstep::set_index_writer(client, "posts", {}, desired().identity, lockstep::Epoch{3},
                                   {"a", "b", 1});
      },
      [](auto& client) { lockstep::validate_mapping(client, "posts", desired().mapping); },
      plan_and_apply,
      fetch,
      scan,
  };
  for (const auto& step : steps) {
    ElasticsearchClient client(std::make_unique<Replies>(replies));
    try {
      step(client);
    } catch (const lockstep::Error&) {
      // As it should be.
    }
  }
  return 0;
}
