#include "replicator/elasticsearch/read/get_document.h"

#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {

std::optional<nlohmann::json> get_document(ElasticsearchClient& client, const std::string& doing,
                                           const std::string& index, const std::string& id) {
  const HttpResponse response =
      client.send(doing, "GET", "/" + percent_encoded(index) + "/_doc/" + percent_encoded(id), {}, {404});
  nlohmann::json reply = parse_reply(doing, response);
  if (reply.value("found", false)) return reply;
  if (reply.contains("error")) throw reply_error(doing, response);
  return std::nullopt;
}

}  // namespace lockstep
