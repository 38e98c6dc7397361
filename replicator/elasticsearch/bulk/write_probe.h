// Whether an index takes writes now: asks with a write that cannot succeed, under the _id and the routing of
// a document, with a sequence number that no document has. It reaches everything that a write reaches: alias,
// blocks, ingest pipeline, shard. Only the document's content is missing. So if a document fails, this
// distinguishes the index's fault, for which all of its documents wait, from the document's own, without a
// look at any text.
#pragma once

#include <chrono>
#include <string>

#include "replicator/elasticsearch/bulk/bulk_request.h"
#include "replicator/elasticsearch/transport/http_transport.h"

namespace lockstep {

struct WriteProbe {
  enum class Answer {
    kTaken,    ///< the index takes writes
    kHeld,     ///< it does not; `reason` has the cause
    kUnknown,  ///< Elasticsearch is away or overloaded, so the answer is unknown
  };
  Answer answer = Answer::kUnknown;
  int status = 0;              ///< of the item; 0: none
  std::string type;            ///< error.type when kHeld
  std::string reason;          ///< one line, with the remedy if there is one; empty if kTaken
  bool is_of_request = false;  ///< kUnknown, and the request as a whole was refused or cut off, at once
};

/// Asks for `alias` under the _id and the routing of `key`. Waits at most `timeout`, and half of it for a
/// shard that is away. Never throws for failures of the server or the network.
WriteProbe probe_write(HttpTransport& transport, const std::string& alias, const DocumentKey& key,
                       std::chrono::milliseconds timeout);

}  // namespace lockstep
