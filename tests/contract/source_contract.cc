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

std::vector<Job> SourceContract::save(const Acknowledged& acknowledged) {
  const auto transaction = begin();
  transaction->save(acknowledged);
  return transaction->commit();
}

Job SourceContract::fan_out_of_changes(const AppliedIndex& index) {
  const auto transaction = begin();
  const Changes changes = transaction->read_changes(position_, {100'000});
  transaction->add_fan_out(index, changes.captured);
  Acknowledged acknowledged;
  acknowledged.position = position_ = changes.next;
  transaction->save(acknowledged);
  const std::vector<Job> jobs = transaction->commit();
  EXPECT_EQ(jobs.size(), 1U);
  if (jobs.size() != 1) return {};
  EXPECT_EQ(jobs[0].kind, JobKind::kFanOut);
  EXPECT_EQ(jobs[0].index, index.id);
  EXPECT_EQ(jobs[0].position, JobPosition(NotBegun{}));
  return jobs[0];
}

SourceContract::SteppedOver SourceContract::step_over(const ChunkLimits& limits) {
  SteppedOver all;
  for (bool more = true; more;) {
    const auto transaction = begin();
    const Changes changes = transaction->read_changes(position_, limits);
    if (changes.large) {
      EXPECT_EQ(changes.rows, 1);
      EXPECT_TRUE(changes.captured.empty());
      transaction->add_large_transaction(docs(), *changes.large);
    }
    for (const CapturedChange& change : changes.captured) {
      for (const std::string& value : change.values) ++all.reported[value];
    }
    Acknowledged acknowledged;
    acknowledged.position = position_ = changes.next;
    transaction->save(acknowledged);
    for (Job& job : transaction->commit()) all.jobs.push_back(std::move(job));
    more = changes.more;
  }
  return all;
}

Job SourceContract::job_of_transaction(int first, int things) {
  drain();
  writer_->begin();
  for (int i = 0; i < things; ++i) writer_->insert_thing(first + i, 0);
  writer_->commit();
  const SteppedOver over = step_over({10, things - 1});
  EXPECT_EQ(over.jobs.size(), 1U);
  return over.jobs.empty() ? Job{} : over.jobs.front();
}

bool SourceContract::expands_to(const AppliedIndex& index, const Job& fan_out, std::int64_t documents) {
  return becomes_true([&] {
    const std::optional<FanOutList> list = source_->changes().expand(index, fan_out);
    return list && list->documents == documents;
  });
}

std::vector<std::string> SourceContract::listed(JobId fan_out, std::int64_t page) {
  std::vector<std::string> ids;
  JobPosition after = NotBegun{};
  for (bool end = false; !end;) {
    const FanOutPage read = begin()->fan_out_page(fan_out, after, page);
    EXPECT_LE(static_cast<std::int64_t>(read.ids.size()), page);
    for (const DocumentId& id : read.ids) ids.push_back(id.text);
    after = read.position;
    end = read.end || read.ids.empty();
    EXPECT_EQ(end, read.end) << "an empty page is the last one";
  }
  return ids;
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
  return transaction->commit();
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
