// The two passes that compare an index with its view, each in the memory of a page:
//   1. the ids of the index as they lie on the disk: the view renders them, some at a time, and what
//   Elasticsearch
//      has of these is read and compared. This finds surplus and different ones;
//   2. the view's ids in their order, each page counted in the index, finds missing ones.
// Elasticsearch reads neighbours together, so a document costs it a tenth of its cost by id. The view first
// gives the documents' sizes: a scan with contents gives so many documents at once, of any size.
//
// A document that differs is a suspect only: a change may be on its way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/document_version.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/document_scan.h"
#include "replicator/elasticsearch/read/id_search.h"
#include "replicator/pipeline/rendering.h"
#include "replicator/pipeline/repair/view_page.h"
#include "replicator/source/applied.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

/// Documents that differed when they were looked at.
struct Suspects {
  std::vector<FoundDocument> missing;
  std::vector<FoundDocument> different;
  std::vector<FoundDocument> surplus;

  std::size_t size() const { return missing.size() + different.size() + surplus.size(); }
  void add(Suspects more);
};

class Passes {
 public:
  struct Parts {
    const Config& config;
    std::function<std::unique_ptr<SourceSnapshot>()> snapshot;
    ElasticsearchClient& elasticsearch;
    const AppliedIndex& index;
    Compared compared = Compared::kWhole;
  };
  struct Listener {
    std::function<void(std::int64_t)> read;  ///< documents, since the begin of this pass
    /// Some at a time, so that they fit into memory. The passes use neither side meanwhile.
    std::function<void(Suspects)> suspects;
  };

  /// The referents of `parts` must outlive this.
  Passes(Parts parts, Listener listener);

  /// Pass 1, of the documents that the last refresh made searchable. Throws Error if either side fails; so
  /// does pass 2.
  void compare_documents();

  /// Pass 2. Returns how many documents the view has. REQUIRES: compare_documents() was called, and a refresh
  /// since.
  std::int64_t look_for_missing();

  /// Of the documents that pass 1 has read.
  DocumentVersion greatest_version() const { return greatest_version_; }

 private:
  struct Part;

  void read_ids(DocumentScan& scan);
  Part take_part();
  Part render(Part part);
  void take_in(const RenderedDocument& document, std::size_t place, Part& part) const;
  void give_back(Part& part);
  void compare(Part& part);

  const Parts parts_;
  const Listener listener_;
  NeighbourReader reader_;
  std::deque<FoundDocument> found_;  // in the index, and not looked at yet
  bool has_all_ids_ = false;         // nothing will be added to these
  RenderedSize size_;
  bool one_each_ = true;  // no _id was found elsewhere than in the view
  DocumentVersion greatest_version_;
};

}  // namespace lockstep
