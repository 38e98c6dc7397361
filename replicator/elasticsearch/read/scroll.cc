#include "replicator/elasticsearch/read/scroll.h"

#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/error.h"
#include "replicator/json_string.h"

namespace lockstep {

Scroll::~Scroll() {
  if (id_.empty()) return;
  try {
    std::string body = "{\"scroll_id\":[";
    append_json_string(body, id_);
    client_.exchange("ending a scan", "DELETE", "/_search/scroll", body += "]}");
  } catch (const Error&) {
    // It ends after its lifetime.
  }
}

std::string Scroll::next_body() const {
  std::string body = "{\"scroll\":\"" + lifetime_ + "\",\"scroll_id\":";
  append_json_string(body, id_);
  return body += '}';
}

}  // namespace lockstep
