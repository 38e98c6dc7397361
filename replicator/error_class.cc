#include "replicator/error_class.h"

namespace lockstep {

std::string_view class_of(const Error& error) {
  switch (error.parts().server) {
    case Server::kSource:
      return error.retryable() ? "source_away" : "source_refuses";
    case Server::kElasticsearch:
      return error.retryable() ? "elasticsearch_away" : "elasticsearch_refuses";
    case Server::kNone:
      break;
  }
  return "failed";
}

}  // namespace lockstep
