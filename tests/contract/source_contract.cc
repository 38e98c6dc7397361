#include "tests/contract/source_contract.h"

namespace lockstep {

DocumentSink Rendered::sink() {
  return [this](const RenderedDocument& document) {
    const std::string id(document.id);
    EXPECT_FALSE(json.contains(id)) << id << " was rendered twice";
    json[id] = document.json ? std::string(*document.json) : "none";
    routing[id] = std::string(document.routing);
    stale_routings[id].insert(document.stale_routings.begin(), document.stale_routings.end());
    order.push_back(id);
  };
}

SourceContract::SourceContract() : world_(GetParam()()), writer_(world_->writer()) {}

void SourceContract::lead() {
  source_ = world_->open();
  // The server notices a moment later that the last leader has gone.
  ASSERT_TRUE(becomes_true([&] { return source_->lead().try_lead(); }));
  epoch_ = source_->lead().raise_epoch(Epoch{}, {source_->lead().identity().place, {}});
  position_ = source_->changes().checkpoint();
}

SourceContract::Chunk SourceContract::step(std::int64_t max_values) {
  const auto transaction = begin();
  Chunk chunk;
  chunk.changes = transaction->read_changes(position_, {max_values});
  const auto ids = transaction->resolve(docs(), chunk.changes.captured, {1'000'000});
  EXPECT_TRUE(ids);
  if (ids) {
    Rendered rendered;
    EXPECT_TRUE(transaction->render(docs(), *ids, std::int64_t{1} << 40, rendered.sink()).empty());
    chunk.documents = rendered.json;
  }
  position_ = chunk.changes.next;
  Acknowledged acknowledged;
  acknowledged.position = position_;
  transaction->save(acknowledged);
  transaction->commit();
  return chunk;
}

Reported SourceContract::drain(std::int64_t max_values) {
  Reported reported;
  for (bool more = true; more;) {
    const Chunk chunk = step(max_values);
    for (const CapturedChange& change : chunk.changes.captured) {
      for (const std::string& value : change.values) ++reported[value];
    }
    more = chunk.changes.more;
  }
  return reported;
}

bool SourceContract::becomes_smaller_by_pruning() {
  const std::int64_t before = source_->outbox().size();
  return becomes_true([&] {
    drain();
    source_->outbox().prune();
    return source_->outbox().size() < before;
  });
}

Committed SourceContract::save(const Acknowledged& acknowledged) {
  const auto transaction = begin();
  transaction->save(acknowledged);
  return transaction->commit();
}

void SourceContract::make_due(const AppliedIndex& index, DocumentVersion as_of) {
  const auto transaction = begin();
  const Changes changes = transaction->read_changes(position_, {100'000});
  transaction->add_due_changes(index, changes.captured, as_of);
  Acknowledged acknowledged;
  acknowledged.position = position_ = changes.next;
  transaction->save(acknowledged);
  const Committed added = transaction->commit();
  EXPECT_EQ(added.due, std::set<IndexId>{index.id});
  EXPECT_TRUE(added.jobs.empty());
}

SourceContract::SteppedOver SourceContract::step_over(const ChunkLimits& limits) {
  SteppedOver all;
  for (bool more = true; more;) {
    const auto transaction = begin();
    const Changes changes = transaction->read_changes(position_, limits);
    if (changes.large) {
      EXPECT_EQ(changes.rows, 1);
      EXPECT_TRUE(changes.captured.empty());
      transaction->add_due_transaction(docs(), *changes.large, version(1));
    }
    for (const CapturedChange& change : changes.captured) {
      for (const std::string& value : change.values) ++all.reported[value];
    }
    Acknowledged acknowledged;
    acknowledged.position = position_ = changes.next;
    transaction->save(acknowledged);
    Committed added = transaction->commit();
    all.due.merge(added.due);
    for (Job& job : added.jobs) all.jobs.push_back(std::move(job));
    more = changes.more;
  }
  return all;
}

void SourceContract::make_transaction_due(int first, int things) {
  drain();
  writer_->begin();
  for (int i = 0; i < things; ++i) writer_->insert_thing(first + i, 0);
  writer_->commit();
  EXPECT_EQ(step_over({10, things - 1}).due, std::set<IndexId>{docs().id});
}

void SourceContract::make_parcel_and_thing_due() {
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  make_due(parcels());
  writer_->insert_thing(1, 0);
  make_due(docs());
}

bool SourceContract::finds(const AppliedIndex& index, std::int64_t documents) {
  std::optional<FoundDue> found;
  const bool is_over = becomes_true([&] {
    found = source_->changes().find_due(index);
    return found.has_value();
  });
  return is_over && found->documents == documents;
}

std::vector<DuePage> SourceContract::due_pages(IndexId index) {
  std::vector<DuePage> pages;
  std::vector<DueNumber> in_hand;
  const auto transaction = begin();
  while (std::optional<DuePage> page = transaction->next_due(index, in_hand).page) {
    EXPECT_LE(page->ids.size(), static_cast<std::size_t>(kDuePageDocuments));
    EXPECT_FALSE(page->ids.empty());
    EXPECT_TRUE(in_hand.empty() || in_hand.back() < page->number);
    in_hand.push_back(page->number);
    pages.push_back(*std::move(page));
  }
  return pages;
}

std::vector<std::string> SourceContract::due_documents(IndexId index) {
  std::vector<std::string> ids;
  for (const DuePage& page : due_pages(index)) {
    for (const DocumentId& id : page.ids) ids.push_back(id.text);
  }
  return ids;
}

std::optional<DueList> SourceContract::due_list(IndexId index) {
  for (DueList& list : source_->changes().due()) {
    if (list.index == index) return std::move(list);
  }
  return std::nullopt;
}

void SourceContract::take_off(const std::vector<DuePage>& pages) {
  Acknowledged acknowledged;
  for (const DuePage& page : pages) acknowledged.written_pages.push_back({page.number, page.as_of});
  save(acknowledged);
}

std::vector<Job> SourceContract::jobs_of(IndexId index, JobKind kind) {
  std::vector<Job> jobs = source_->changes().jobs().readable;
  std::erase_if(jobs, [&](const Job& job) { return job.index != index || job.kind != kind; });
  return jobs;
}

std::optional<Job> SourceContract::find_job(JobId id) {
  for (const Job& job : source_->changes().jobs().readable) {
    if (job.id == id) return job;
  }
  return std::nullopt;
}

void SourceContract::finish_jobs() {
  Acknowledged acknowledged;
  for (const Job& job : source_->changes().jobs().readable)
    acknowledged.jobs.push_back({job.id, job.kind, job.position, 0, true});
  save(acknowledged);
}

std::vector<Job> SourceContract::add_job(IndexId index, JobKind kind, const std::string& reason) {
  const auto transaction = begin();
  transaction->add_job(index, kind, reason);
  return transaction->commit().jobs;
}

DeadLetter SourceContract::refused(const AppliedIndex& index, const std::string& id,
                                   std::int64_t counter) const {
  return {index.id, {id}, "", version(counter), 400, "type", "reason"};
}

DocumentIds ids_of(const std::vector<std::string>& texts) {
  DocumentIds ids;
  for (const std::string& text : texts) ids.push_back({text});
  return ids;
}

DocumentIds ids_up_to(int n) {
  DocumentIds ids;
  for (int i = 1; i <= n; ++i) ids.push_back({std::to_string(i)});
  return ids;
}

}  // namespace lockstep
