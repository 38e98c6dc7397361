// Which versions this process has sent lately: they show a write that meets a greater version whether that
// one is its own, and one that has waited, whether its document was deleted meanwhile. Needs the same memory
// however much is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replicator/document_version.h"

namespace lockstep {

class RecentWrites {
 public:
  /// Whose a version is that is greater than that of a write of the same document.
  enum class Owner : std::uint8_t {
    kUs,       ///< this process has sent it
    kOthers,   ///< it has not
    kUnknown,  ///< one that may have been of the document is forgotten
  };

  RecentWrites();

  /// A write of the document with this hash is sent, or a deletion.
  void add(std::size_t document, DocumentVersion version, bool is_delete);

  /// Whose the version is that a write with `version` has met.
  Owner owner_of_newer(std::size_t document, DocumentVersion version) const;

  /// The same of deletions: kOthers if this process has sent none that is newer.
  Owner owner_of_newer_deletion(std::size_t document, DocumentVersion version) const;

 private:
  /// The last document of many that has its place here.
  struct Slot {
    std::size_t document = 0;
    DocumentVersion version;
    DocumentVersion deleted;            ///< the greatest of its deletions
    DocumentVersion forgotten;          ///< the greatest version of the documents before it
    DocumentVersion forgotten_deleted;  ///< of their deletions
  };

  std::size_t place_of(std::size_t document) const { return document % slots_.size(); }

  std::vector<Slot> slots_;
};

}  // namespace lockstep
