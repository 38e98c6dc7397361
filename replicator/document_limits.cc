#include "replicator/document_limits.h"

#include "replicator/utf8.h"

namespace lockstep {

bool can_be_document_id(std::string_view id) {
  return !id.empty() && id.size() <= kMaxIdBytes && is_utf8(id);
}

}  // namespace lockstep
