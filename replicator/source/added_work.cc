#include "replicator/source/added_work.h"

#include <algorithm>
#include <vector>

namespace lockstep {

void AddedWork::note_due(IndexId index, ChangeLog& changes) {
  for (const DueList& list : changes.due()) {
    if (list.index == index) due_[index] = list.newest;
  }
}

void AddedWork::add(const Committed& added, ChangeLog& changes) {
  for (const Job& job : added.jobs) jobs_.insert(job.id);
  for (const IndexId index : added.due) note_due(index, changes);
}

AddedWork AddedWork::all_of(IndexId index, ChangeLog& changes) {
  AddedWork work;
  for (const Job& job : changes.jobs().readable) {
    if (job.index == index) work.jobs_.insert(job.id);
  }
  work.note_due(index, changes);
  return work;
}

bool AddedWork::is_done(ChangeLog& changes) const {
  if (!jobs_.empty()) {
    const UnfinishedJobs left = changes.jobs();
    if (std::ranges::any_of(jobs_, [&](JobId job) { return left.contains(job); })) return false;
  }
  if (due_.empty()) return true;
  const std::vector<DueList> lists = changes.due();
  return std::ranges::none_of(lists, [&](const DueList& list) {
    const auto due = due_.find(list.index);
    return due != due_.end() && list.oldest <= due->second;
  });
}

}  // namespace lockstep
