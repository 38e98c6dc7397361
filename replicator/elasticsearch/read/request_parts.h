// Asks for many documents in requests whose replies have a bounded size (reply_size.h). If that is more than
// the index allows, the server is busy, or the reply comes out larger all the same, it asks for smaller
// parts. The reply for one document may be of any size.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/reply_size.h"
#include "replicator/elasticsearch/read/stored_document.h"

namespace lockstep {

/// A reply's account of the documents that were asked for.
struct TakenReply {
  std::size_t documents = 0;         ///< of the first ones in it
  std::optional<Error> failed = {};  ///< why the next one is missing; that may work later
};

/// A request that can be sent for each part of the documents.
struct PartedRequest {
  std::string doing;
  std::string path;  ///< of a POST
  std::function<std::string(std::span<const DocumentLocation> part)> body;
  /// Reads the reply for the part that begins at this position.
  std::function<TakenReply(std::size_t begin, std::span<const DocumentLocation> part, HttpResponse)> take;
};

/// Sends `request` for all of `wanted`, part by part. Throws Error as the client does.
void in_parts(ElasticsearchClient& client, ReplySize& size, std::span<const DocumentLocation> wanted,
              const PartedRequest& request);

}  // namespace lockstep
