// A reply of any content to a bulk request: every item has one outcome at the end, and only from a reply that
// has one result for each (promise 1).
//
// The input: a byte for the number of documents, two for the HTTP status, the body.
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "replicator/elasticsearch/bulk/bulk_delivery.h"

namespace {

using lockstep::BulkReply;

void require(bool holds, const char* what) {
  if (holds) return;
  std::cerr << what << '\n';
  std::abort();
}

lockstep::BulkRequest request_of(std::size_t documents) {
  lockstep::BulkRequest request;
  for (std::size_t i = 0; i < documents; ++i) {
    const lockstep::DocumentVersion version(lockstep::Epoch{1}, static_cast<std::int64_t>(i));
    const lockstep::DocumentKey key{1, std::to_string(i), ""};
    i % 3 == 2 ? request.remove("posts", key, version) : request.index("posts", key, version, "{}");
  }
  return request;
}

BulkReply answer(const lockstep::BulkRequest& piece, const lockstep::HttpResponse& response) {
  BulkReply reply = lockstep::read_bulk_reply(piece, response);
  const std::size_t expected = reply.kind == BulkReply::Kind::kItems ? piece.items().size() : 0;
  require(reply.items.size() == expected, "a reply whose items are not those of the request");
  return reply;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::size_t documents = 1 + data[0] % 8;
  const int status = 100 + (data[1] * 256 + data[2]) % 500;
  const lockstep::HttpResponse response{status, std::string(data + 3, data + size)};
  lockstep::BulkDelivery delivery(request_of(documents));
  std::size_t settled = 0;
  for (int pieces = 0; pieces < 32 && !delivery.finished(); ++pieces) {
    if (!delivery.has_piece()) delivery.begin_round();
    const lockstep::BulkRequest& piece = delivery.next_piece();
    settled += delivery.answered(answer(piece, response));
  }
  require(delivery.finished() == (settled == documents), "outcomes that do not add up");
  if (!delivery.finished()) return 0;
  const lockstep::BulkResult result = delivery.take_result();
  require(result.outcomes.size() == documents, "an item without an outcome");
  std::size_t refused = 0;
  for (const lockstep::Outcome outcome : result.outcomes) refused += outcome == lockstep::Outcome::kRefused;
  require(result.refusals.size() == refused, "a refusal without its reason");
  return 0;
}
