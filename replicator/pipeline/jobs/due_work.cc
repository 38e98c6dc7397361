#include "replicator/pipeline/jobs/due_work.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace lockstep {
namespace {

// Pages without anything left to write, in one reading: large changes of the same rows list their documents
// again and again.
constexpr std::size_t kMostPagesAtOnce = 100;

// Until documents of changes are looked for again while there are pages.
constexpr std::chrono::milliseconds kFindAgain{5'000};

}  // namespace

DueWork::DueWork(const AppliedIndex& index, World world) : PagedWork(index), world_(std::move(world)) {}

void DueWork::note_added() {
  added_at_ = steady_now();
  look_for_more();
}

void DueWork::look_for_more() {
  look_again_ = true;
  is_list_new_ = false;  // it may lack that
  is_empty_ = false;
}

void DueWork::note_list(std::optional<DueList> list) {
  list_ = std::move(list);
  list_known_at_ = steady_now();
  if (!list_) return;
  look_for_more();
  is_list_new_ = true;
}

bool DueWork::is_due_since(SteadyTime time) const {
  const bool is_younger = list_ && list_known_at_ - list_->oldest_age > time;
  return is_due() && !is_younger;
}

void DueWork::note_written(const std::vector<WrittenPage>& pages) {
  std::erase_if(awaited_, [&](DueNumber page) {
    return std::ranges::find(pages, page, &WrittenPage::number) != pages.end();
  });
}

void DueWork::start_over() {
  page_.reset();
  has_read_ = false;
  look_for_more();
}

void DueWork::note(const PageEnd& page) {
  for (const WrittenPage& written : page.written) awaited_.push_back(written.number);
  if (page.is_empty && !look_again_) is_empty_ = true;
}

// Documents of kept rows are found first: the outbox grows meanwhile. All others are found when the pages are
// written, or in a while, so that changes of the same rows are looked up together.
bool DueWork::is_ready() {
  if (std::exchange(look_again_, false)) {
    may_have_pages_ = true;
    not_before_ = {};
    if (std::exchange(is_list_new_, false)) {
      may_have_pages_ = list_->documents > 0;
      has_changes_ = list_->changes > 0;
      keeps_rows_ = list_->keeps_rows;
    }
  }
  in_hand_ = awaited_;
  const auto has_pages = [&] { return may_have_pages_ && steady_now() >= not_before_; };
  const bool is_time = steady_now() - found_at_ >= kFindAgain || (!page_ && !has_pages());
  if (is_finding_ || keeps_rows_ || (has_changes_ && is_time)) find();
  return page_ || has_pages();
}

void DueWork::find() {
  is_finding_ = true;
  std::optional<FoundDue> found = world_.changes.find_due(index());
  if (!found) return;
  is_finding_ = has_changes_ = keeps_rows_ = false;
  found_at_ = steady_now();
  may_have_pages_ = true;
  not_before_ = {};
  world_.on_found(*std::move(found));
}

// False: there is none now.
bool DueWork::take_page(SourceTransaction& transaction) {
  NextDue next = transaction.next_due(index().id, in_hand_);
  has_changes_ = next.has_changes;
  keeps_rows_ = next.keeps_rows;
  page_ = std::move(next.page);
  if (!page_) {
    has_read_ = false;
    may_have_pages_ = next.ready_in.has_value();
    if (next.ready_in) not_before_ = steady_now() + *next.ready_in;
    return false;
  }
  return true;
}

// Pages of which little is left fill a request together.
PageEnd DueWork::read_page(SourceTransaction& transaction, StepDocuments& documents,
                           const PageLimits& limits) {
  PageEnd end;
  std::unordered_set<std::string> in_step;
  const auto room = [&] {
    return is_nearly_full(documents.size().bytes, limits.bytes) ? 0 : limits.documents - end.documents;
  };
  while (room() > 0 && end.written.size() < kMostPagesAtOnce) {
    if (!page_ && !take_page(transaction)) {
      end.is_empty = !may_have_pages_ && !has_changes_;
      break;
    }
    leave_out_written();
    std::erase_if(page_->ids, [&](const DocumentId& id) { return in_step.contains(id.text); });
    const auto before = std::ssize(page_->ids);
    if (before > 0) {
      end.since = end.since ? std::min(*end.since, page_->since) : page_->since;
      has_read_ = true;
    }
    if (before < room()) {
      for (const DocumentId& id : page_->ids) in_step.insert(id.text);
    }
    rendering_.render(transaction, index(), page_->ids, documents, limits.bytes, room());
    end.documents += before - std::ssize(page_->ids);
    if (!page_->ids.empty()) break;
    end.written.push_back(finish_page());
  }
  rendered_ += end.documents;
  return end;
}

void DueWork::leave_out_written() {
  if (!page_->as_of) return;
  std::erase_if(page_->ids,
                [&](const DocumentId& id) { return world_.is_written_since(index().id, id, *page_->as_of); });
}

// The snapshot that is open has it in the list still.
WrittenPage DueWork::finish_page() {
  const WrittenPage written{page_->number, page_->as_of};
  in_hand_.push_back(page_->number);
  page_.reset();
  return written;
}

}  // namespace lockstep
