#include "replicator/elasticsearch/read/document_reply.h"

#include <cstdint>
#include <utility>

namespace lockstep {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

}  // namespace

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

Error unreadable(const std::string& doing) {
  return Error({doing, "the reply is not complete JSON or does not fit the request",
                "is there a proxy in between?", Retry::kLater, Server::kElasticsearch});
}

}  // namespace lockstep
