// Writes the due documents of one index: page after page of its list in the source, each rendered from the
// view's state at that time. Documents that were written since their page became due are left out (U2,
// source/outbox/due.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replicator/clock.h"
#include "replicator/pipeline/jobs/paged_work.h"
#include "replicator/pipeline/rendering.h"
#include "replicator/source/change_log.h"

namespace lockstep {

class DueWork final : public PagedWork {
 public:
  /// Its collaborators. All of them must outlive the work.
  struct World {
    ChangeLog& changes;
    /// Whether Elasticsearch has a document of this index from this version or a later one; any thread may
    /// ask.
    std::function<bool(IndexId, const DocumentId&, DocumentVersion)> is_written_since;
    std::function<void(FoundDue)> on_found;  ///< the documents of changes were found
  };

  /// Nothing is due, as far as is known.
  DueWork(const AppliedIndex& index, World world);

  /// More has become due.
  void note_added();

  /// When that was last noted.
  SteadyTime added_at() const { return added_at_; }

  /// The list as the source has it now; none: it is empty there.
  void note_list(std::optional<DueList> list);

  /// These pages are not in the list any more, unless note_added() follows.
  void note_written(const std::vector<WrittenPage>& pages);

  /// Pages in hand are read again. REQUIRES: no page of it is being read.
  void start_over();

  /// Whether any document is due, as far as is known.
  bool is_due() const { return !is_empty_ || !awaited_.empty(); }

  /// Whether one of its documents may have been due at that time already.
  bool is_due_since(SteadyTime time) const;

  /// As of the last note_list().
  const std::optional<DueList>& list() const { return list_; }
  SteadyTime list_known_at() const { return list_known_at_; }

  /// Documents that were rendered here.
  std::int64_t rendered() const { return rendered_; }

  Lane lane() const override { return Lane::due_of(index().id); }
  std::string name() const override { return "the due list of " + index().alias; }
  bool has_begun() const override { return has_read_; }  // since the list was empty
  bool all_read() const override { return false; }

  /// Lets the source find the documents of changes.
  bool is_ready() override;
  bool keeps_rows() const override { return keeps_rows_ || (is_list_new_ && list_->keeps_rows); }
  PageEnd read_page(SourceTransaction& transaction, StepDocuments& documents,
                    const PageLimits& limits) override;
  void note(const PageEnd& page) override;

 private:
  void look_for_more();
  bool take_page(SourceTransaction& transaction);
  void leave_out_written();
  WrittenPage finish_page();
  void find();

  const World world_;
  std::optional<DueList> list_;
  SteadyTime list_known_at_{};
  std::vector<DueNumber> awaited_;  // pages that are rendered and in the list
  bool is_empty_ = true;            // apart from these
  bool look_again_ = false;
  SteadyTime added_at_{};
  bool is_list_new_ = false;  // since the last is_ready()

  // Those below belong to the thread that reads, while a page is being read.
  std::vector<DueNumber> in_hand_;  // as of the last is_ready()
  bool may_have_pages_ = false;
  bool has_changes_ = false;  // whose documents are still to be found
  bool keeps_rows_ = false;
  bool is_finding_ = false;
  SteadyTime found_at_ = steady_now();  // the last time, or since when there may be changes
  bool has_read_ = false;
  SteadyTime not_before_{};      // there are pages, and none may be tried before
  std::optional<DuePage> page_;  // being rendered: its ids are those that are left
  Rendering rendering_;
  std::atomic<std::int64_t> rendered_ = 0;
};

}  // namespace lockstep
