#include "replicator/elasticsearch/read/request_parts.h"

#include <limits>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

// More than the index gives at once (index.max_result_window) is a mere 400.
constexpr int kMoreThanAllowed = 400;

std::vector<std::size_t> expected_bytes_of(std::span<const DocumentLocation> wanted) {
  std::vector<std::size_t> bytes;
  bytes.reserve(wanted.size());
  for (const DocumentLocation& location : wanted) bytes.push_back(location.expected_bytes);
  return bytes;
}

std::size_t most_bytes(std::size_t documents) {
  return documents > 1 ? kMostReplyBytes : std::numeric_limits<std::size_t>::max();
}

}  // namespace

void in_parts(ElasticsearchClient& client, ReplySize& size, std::span<const DocumentLocation> wanted,
              const PartedRequest& request) {
  const std::vector<std::size_t> expected = expected_bytes_of(wanted);
  BusyWait wait(client.when_busy());
  for (std::size_t begin = 0; begin < wanted.size();) {
    const std::size_t documents = size.documents(std::span(expected).subspan(begin));
    const auto part = wanted.subspan(begin, documents);
    HttpResponse response;
    try {
      response =
          client.exchange(request.doing, "POST", request.path, request.body(part), most_bytes(documents));
    } catch (const ReplyTooLarge& reply) {
      size.came(std::span(expected).subspan(begin, documents), reply.bytes());
      continue;
    }
    std::optional<Error> busy;
    if (is_2xx(response.status)) {
      size.came(std::span(expected).subspan(begin, documents), response.body.size());
      TakenReply taken = request.take(begin, part, std::move(response));
      if (taken.documents > 0) wait.over();
      begin += taken.documents;
      busy = std::move(taken.failed);
    } else if (is_busy(response)) {
      busy = reply_error(request.doing, response);
    } else if (response.status != kMoreThanAllowed || documents == 1) {
      throw reply_error(request.doing, response);
    } else {
      size.was_refused(documents);
    }
    if (busy) {
      size.was_refused(documents);
      wait.before_next_try(*busy);
    }
  }
}

}  // namespace lockstep
