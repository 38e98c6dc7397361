// Which versions this process has sent lately, so that a write that meets a greater version can tell whether
// that one is its own. Needs the same memory however much is written.
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
    kUs,       ///< this process has sent a newer write of the document
    kOthers,   ///< it has not
    kUnknown,  ///< a write that may have been of the document is forgotten
  };

  RecentWrites();

  /// A write of the document with this hash is sent.
  void add(std::size_t document, DocumentVersion version);

  /// Whose the version is that a write with `version` has met.
  Owner owner_of_newer(std::size_t document, DocumentVersion version) const;

 private:
  /// The last document of many that has its place here.
  struct Slot {
    std::size_t document = 0;
    DocumentVersion version;
    DocumentVersion forgotten;  ///< the greatest version of the documents before it
  };

  std::size_t place_of(std::size_t document) const { return document % slots_.size(); }

  std::vector<Slot> slots_;
};

}  // namespace lockstep
