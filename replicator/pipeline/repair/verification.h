// Whether an index equals its view, document by document, while both may be changing (promise 3).
//
// Two passes find suspects (passes.h). One is judged once Elasticsearch has acknowledged everything that the
// view's snapshot saw, and counts if Elasticsearch has not written it since before that snapshot. The same
// answer of the view at that time proves nothing: a value may go there and back between two looks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/clock.h"
#include "replicator/config/config.h"
#include "replicator/document_version.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/pipeline/repair/passes.h"
#include "replicator/pipeline/repair/view_page.h"
#include "replicator/source/added_work.h"
#include "replicator/source/source.h"

namespace lockstep {

enum class Difference {
  kMissing,    ///< the view has it, the index does not
  kDifferent,  ///< both have it, with other contents
  kReordered,  ///< both have it, with elements of an array in another order
  kSurplus,    ///< the index has it, the view does not, or not under that routing
};

/// "missing", "different", "reordered", "surplus".
std::string_view to_string(Difference difference);

/// Whether the order of an array's elements is a part of its contents. A view that gives them in no order
/// (json_agg without order by) may give them in another one each time.
enum class ArrayOrder { kCounts, kAny };

struct DifferingDocument {
  FoundDocument document;
  Difference difference = Difference::kMissing;
  std::string refusal;  ///< why Elasticsearch refused its last state; empty: it is no dead letter
};

/// The result of comparing one index.
struct VerifiedIndex {
  std::string alias;
  std::int64_t documents = 0;  ///< of the view
  std::int64_t missing = 0;
  std::int64_t different = 0;
  std::int64_t reordered = 0;
  std::int64_t surplus = 0;
  /// Changed or were written between all looks at them, or change faster than changes are applied.
  std::int64_t undecided = 0;
  /// Why the indexing of its documents is not proven, although their contents may be equal: they are written
  /// again, for a mapping that counts for later writes only, say. Empty: it is.
  std::string unproven = {};
  /// Parts of the present view from which the documents were not made, and which were therefore not compared.
  /// Of a kept generation only those that `apply` is to bring in line. Empty: nothing.
  std::string reshaped = {};
  /// Of a kept generation: later columns of its view, without which it continues. Empty: nothing.
  std::string without = {};
  /// Not empty: only the fields that the view has were compared, since these may add others.
  std::vector<std::string> ingest_pipelines = {};

  bool equal(ArrayOrder order) const {
    const std::int64_t differing = missing + different + surplus;
    return differing + (order == ArrayOrder::kCounts ? reordered : 0) == 0 && unproven.empty() &&
           reshaped.empty();
  }
};

struct VerifyProgress {
  enum class Phase { kComparing, kLookingForMissing, kWaiting };
  Phase phase = Phase::kComparing;
  std::string alias;
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< about
};

class Verification {
 public:
  /// Called from compare().
  struct Listener {
    std::function<void(const VerifyProgress&)> progress;
    std::function<void(const AppliedIndex&, const DifferingDocument&)> difference;
  };
  enum class Repair { kNo, kYes };

  /// The references must outlive this.
  Verification(const Config& config, Source& source, ElasticsearchClient& elasticsearch, Listener listener,
               Repair repair, ArrayOrder order = ArrayOrder::kCounts);

  /// Compares an index. With Repair::kYes it adds jobs to the source that write the differing documents: only
  /// another comparison shows whether that fixed them. Throws Error if either side fails, and if anything
  /// differs after `apply` or a reindex has changed the pipeline: another index may have the alias.
  VerifiedIndex compare(const AppliedIndex& index);

  /// The additions of compare().
  const AddedWork& repairs() const { return repairs_; }

  /// Whether some process led the pipeline. If not, nothing was waited for.
  bool led() const { return led_; }

 private:
  /// A document as the view gives it.
  struct Expected {
    std::string routing;
    std::string json;
    bool operator==(const Expected&) const = default;
  };
  /// None: the view does not have it.
  using View = std::map<DocumentId, std::optional<Expected>>;

  /// A document as the view gave it, in little memory.
  struct Fingerprint {
    std::string routing;
    std::size_t json = 0;  ///< its hash
    bool operator==(const Fingerprint&) const = default;
  };
  /// None: the view does not have it.
  using Fingerprints = std::map<DocumentId, std::optional<Fingerprint>>;
  /// Of documents that were looked up. None: the index did not have it.
  using Versions = std::map<FoundDocument, std::optional<DocumentVersion>>;
  /// The view's answer about suspects in one snapshot.
  struct ViewState {
    Versions versions;  ///< of the suspects, in the index, just before
    Position position;
    Fingerprints documents;            ///< that were missing or different
    std::vector<FoundDocument> stale;  ///< of those that were surplus
  };

  static Fingerprint fingerprint_of(std::string_view routing, std::string_view json) {
    return {std::string(routing), std::hash<std::string_view>{}(json)};
  }

  Difference how_they_differ(const std::string& of_view, std::string_view stored) const {
    return is_equal_in_any_order(compared_, of_view, stored) ? Difference::kReordered
                                                             : Difference::kDifferent;
  }

  void judge(const AppliedIndex& index, Suspects suspects);
  Suspects judge_once(const AppliedIndex& index, Suspects suspects,
                      const std::optional<SteadyTime>& deadline);
  void judge_expected(const AppliedIndex& index, const std::vector<FoundDocument>& suspects,
                      const ViewState& before, Suspects& missing, Suspects& undecided);
  void judge_missing(const AppliedIndex& index, Suspects missing, const std::optional<SteadyTime>& deadline,
                     Suspects& undecided);
  void judge_surplus(const AppliedIndex& index, const std::vector<FoundDocument>& suspects,
                     const Versions& before, Suspects& undecided);
  Versions versions_of(const AppliedIndex& index, const std::vector<FoundDocument>& documents);
  ViewState state_of(const AppliedIndex& index, const Suspects& suspects);
  Fingerprints fingerprints(SourceSnapshot& snapshot, const AppliedIndex& index, DocumentIds ids);
  DocumentIds read_view(const AppliedIndex& index, const DocumentIds& ids, View& view, Position& seen);
  static std::vector<DocumentLocation> locations_in(const View& view,
                                                    const std::vector<FoundDocument>& documents);
  void judge_refused(const AppliedIndex& index);
  std::vector<FoundDocument> equal_of(const AppliedIndex& index, const std::vector<FoundDocument>& documents,
                                      const View& view);
  std::vector<DifferingDocument> still_refused(const AppliedIndex& index,
                                               const std::vector<FoundDocument>& documents);
  std::string unwritten(const AppliedIndex& index);
  void compare_shape(const AppliedIndex& index);

  void require_same_pipeline() const;
  bool wait_for(const AppliedIndex& index, const Position& position,
                const std::optional<SteadyTime>& deadline);
  bool still_led();

  void found(const AppliedIndex& index, std::vector<DifferingDocument> differing);
  void repair(const AppliedIndex& index);
  void report(VerifyProgress::Phase phase);

  const Config& config_;
  Source& source_;
  ElasticsearchClient& elasticsearch_;
  Listener listener_;
  const Repair repair_;
  const std::string revision_;  // of the pipeline
  const ArrayOrder order_;      // kAny: reordered documents are counted, and neither reported nor repaired
  bool led_;
  std::vector<FoundDocument> to_repair_;
  AddedWork repairs_;
  VerifiedIndex result_;                  // of the index at hand
  Compared compared_ = Compared::kWhole;  // likewise
  VerifyProgress progress_;               // likewise
};

}  // namespace lockstep
