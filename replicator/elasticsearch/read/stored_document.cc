#include "replicator/elasticsearch/read/stored_document.h"

#include "replicator/document_limits.h"
#include "replicator/utf8.h"

namespace lockstep {

bool can_be_asked_for(const DocumentLocation& location) {
  return can_be_document_id(location.id) && is_utf8(location.routing);
}

}  // namespace lockstep
