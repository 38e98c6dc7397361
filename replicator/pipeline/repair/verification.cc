#include "replicator/pipeline/repair/verification.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "replicator/clock.h"
#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/elasticsearch/admin/ingest_pipelines.h"
#include "replicator/elasticsearch/read/document_reader.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSuspects = 1'000;           // judged together
constexpr std::size_t kRepairedTogether = 10'000;  // documents of one job
constexpr int kJudgements = 10;                    // of a document that goes on changing
constexpr auto kPoll = 50ms;                       // between looks at what is pending
constexpr auto kChangeOfLead = 10s;                // without a leader for longer, nothing is waited for

template <typename Step>
void for_each_part(const std::vector<FoundDocument>& documents, const Step& step) {
  for (std::size_t begin = 0; begin < documents.size(); begin += kSuspects) {
    const std::size_t end = std::min(begin + kSuspects, documents.size());
    step(std::vector<FoundDocument>(documents.begin() + static_cast<std::ptrdiff_t>(begin),
                                    documents.begin() + static_cast<std::ptrdiff_t>(end)));
  }
}

}  // namespace

std::string_view to_string(Difference difference) {
  switch (difference) {
    case Difference::kMissing:
      return "missing";
    case Difference::kDifferent:
      return "different";
    case Difference::kSurplus:
      return "surplus";
  }
  throw std::logic_error("a difference without a name");
}

Verification::Verification(const Config& config, Source& source, ElasticsearchClient& elasticsearch,
                           Listener listener, Repair repair)
    : config_(config),
      source_(source),
      elasticsearch_(elasticsearch),
      listener_(std::move(listener)),
      repair_(repair),
      led_(source.lead().is_led()) {}

VerifiedIndex Verification::compare(const AppliedIndex& index) {
  result_ = {.alias = index.alias};
  progress_ = {.alias = index.alias};
  result_.ingest_pipelines = ingest_pipelines_of(elasticsearch_, index.target());
  compared_ = compared_through(result_.ingest_pipelines);
  elasticsearch_.refresh(index.target());
  progress_.total = elasticsearch_.count(index.target());
  VerifyProgress::Phase phase = VerifyProgress::Phase::kComparing;
  Passes passes({config_, [this] { return source_.changes().read(); }, elasticsearch_, index, compared_},
                {.read =
                     [&](std::int64_t documents) {
                       progress_.done = documents;
                       report(phase);
                     },
                 .suspects = [&](const Suspects& suspects) { judge(index, suspects); }});
  passes.compare_documents();
  progress_.done = 0;
  phase = VerifyProgress::Phase::kLookingForMissing;
  elasticsearch_.refresh(index.target());
  result_.documents = passes.look_for_missing();
  judge_refused(index);
  repair(index);
  result_.unproven = unwritten(index);
  return result_;
}

// Contents tell nothing of what a document was indexed with. `apply` clears the mark when it has added the
// job, so the mark is read first.
std::string Verification::unwritten(const AppliedIndex& index) {
  for (const IndexState& state : elasticsearch_.indices_of(index.target())) {
    const std::optional<IndexMark> mark = read_mark(state);
    if (mark && !mark->unwritten.empty())
      return "documents are to be written again for " + mark->unwritten + ": run `lockstep apply`";
  }
  const UnfinishedJobs jobs = source_.changes().jobs();
  for (const UnreadableJob& job : jobs.unreadable) {
    if (job.index == index.id) return job.why;
  }
  for (const Job& job : jobs.readable) {
    if (job.index == index.id && job.kind == JobKind::kBackfill)
      return "a backfill writes every document again: " + job.reason;
  }
  return "";
}

void Verification::judge(const AppliedIndex& index, const Suspects& suspects) {
  for (const std::vector<FoundDocument>* documents : {&suspects.missing, &suspects.different}) {
    for_each_part(*documents, [&](std::vector<FoundDocument> part) {
      for (int judgement = 0; judgement < kJudgements && !part.empty(); ++judgement) {
        part = judge_once(index, std::move(part));
      }
      result_.undecided += static_cast<std::int64_t>(part.size());
    });
  }
  for_each_part(suspects.surplus,
                [&](const std::vector<FoundDocument>& part) { judge_surplus(index, part); });
}

// Adds the documents that the view has to `view`; returns the ids left over.
DocumentIds Verification::read_view(const AppliedIndex& index, const DocumentIds& ids, View& view,
                                    Position& seen) {
  const std::unique_ptr<SourceSnapshot> snapshot = source_.changes().read();
  seen = snapshot->position();
  return snapshot->render(
      index, ids, config_.elasticsearch.bulk_bytes, [&](const RenderedDocument& document) {
        view[DocumentId{std::string(document.id)}] =
            document.json
                ? std::optional(Expected{std::string(document.routing), std::string(*document.json)})
                : std::nullopt;
      });
}

// What is refused may have the contents of the view all the same, but it is indexed as an older mapping said.
void Verification::judge_refused(const AppliedIndex& index) {
  DeadLetterFilter of_index;
  of_index.indices = {index.id};
  std::optional<DeadLetter> after;
  while (true) {
    const std::vector<StoredDeadLetter> letters = source_.dead_letters().find(of_index, after, kSuspects);
    if (letters.empty()) return;
    after = letters.back().letter;
    std::map<DocumentId, std::string> routings;
    DocumentIds ids;
    for (const StoredDeadLetter& stored : letters) {
      if (routings.emplace(stored.letter.id, stored.letter.routing).second) ids.push_back(stored.letter.id);
    }
    while (!ids.empty()) {
      View view;
      Position seen;
      ids = read_view(index, ids, view, seen);
      std::vector<FoundDocument> refused;
      for (const auto& [id, document] : view) {
        if (document && document->routing == routings.at(id)) refused.push_back({id, document->routing});
      }
      wait_for(index, seen);
      found(index, still_refused(index, equal_of(index, refused, view)));
    }
  }
}

std::vector<FoundDocument> Verification::equal_of(const AppliedIndex& index,
                                                  const std::vector<FoundDocument>& documents,
                                                  const View& view) {
  std::vector<FoundDocument> equal;
  fetch_documents(elasticsearch_, index.target(), locations_of(documents),
                  [&](std::size_t i, const std::optional<StoredDocument>& stored) {
                    const FoundDocument& document = documents[i];
                    if (stored && stored->routing == document.routing &&
                        is_equal(compared_, view.at(document.id)->json, stored->source))
                      equal.push_back(document);
                  });
  return equal;
}

std::vector<DifferingDocument> Verification::still_refused(const AppliedIndex& index,
                                                           const std::vector<FoundDocument>& documents) {
  std::vector<DifferingDocument> refused;
  if (documents.empty()) return refused;
  DeadLetterFilter of_these;
  of_these.indices = {index.id};
  for (const FoundDocument& document : documents) of_these.ids.push_back(document.id);
  std::set<FoundDocument> letters;
  for (const StoredDeadLetter& stored :
       source_.dead_letters().find(of_these, std::nullopt, std::numeric_limits<std::int64_t>::max()))
    letters.insert({stored.letter.id, stored.letter.routing});
  for (const FoundDocument& document : documents) {
    if (letters.contains(document)) refused.push_back({document, Difference::kDifferent, {}});
  }
  return refused;
}

// Returns the suspects that changed meanwhile.
std::vector<FoundDocument> Verification::judge_once(const AppliedIndex& index,
                                                    std::vector<FoundDocument> suspects) {
  std::set<DocumentId> gone;
  DocumentIds ids;
  for (const FoundDocument& suspect : suspects) ids.push_back(suspect.id);
  std::vector<FoundDocument> undecided;
  while (!ids.empty()) {
    View before;
    Position seen;
    const DocumentIds left_over = read_view(index, ids, before, seen);
    wait_for(index, seen);

    std::vector<FoundDocument> expected;
    for (const auto& [id, document] : before) {
      if (document) expected.push_back({id, document->routing});
      if (!document) gone.insert(id);
    }
    std::vector<DifferingDocument> differing;
    fetch_documents(elasticsearch_, index.target(), locations_of(expected),
                    [&](std::size_t i, const std::optional<StoredDocument>& stored) {
                      const FoundDocument& document = expected[i];
                      if (!stored || stored->routing != document.routing) {
                        differing.push_back({document, Difference::kMissing, {}});
                      } else if (!is_equal(compared_, before.at(document.id)->json, stored->source)) {
                        differing.push_back({document, Difference::kDifferent, {}});
                      }
                    });

    DocumentIds again;
    for (const DifferingDocument& document : differing) again.push_back(document.document.id);
    View after;
    if (!again.empty()) read_view(index, again, after, seen);
    std::vector<DifferingDocument> certain;
    for (DifferingDocument& document : differing) {
      const auto now = after.find(document.document.id);
      if (now != after.end() && now->second && now->second == before.at(document.document.id)) {
        certain.push_back(std::move(document));
      } else {
        undecided.push_back(std::move(document.document));
      }
    }
    found(index, std::move(certain));
    ids = left_over;
  }
  std::erase_if(suspects, [&](const FoundDocument& suspect) { return !gone.contains(suspect.id); });
  judge_surplus(index, suspects);
  return undecided;
}

void Verification::judge_surplus(const AppliedIndex& index, const std::vector<FoundDocument>& suspects) {
  if (suspects.empty()) return;
  const auto stale = [&](const std::vector<FoundDocument>& documents, Position& seen) {
    const std::unique_ptr<SourceSnapshot> snapshot = source_.changes().read();
    seen = snapshot->position();
    std::vector<FoundDocument> found;
    for (StaleDocument& document : snapshot->stale(index, documents)) {
      found.push_back(std::move(document.found));
    }
    return found;
  };
  Position seen;
  const std::vector<FoundDocument> before = stale(suspects, seen);
  wait_for(index, seen);

  std::vector<FoundDocument> there;
  fetch_documents(elasticsearch_, index.target(), locations_of(before),
                  [&](std::size_t i, const std::optional<StoredDocument>& stored) {
                    // Two routings may lead to one shard, which finds the document under the other one too.
                    if (stored && stored->routing == before[i].routing) there.push_back(before[i]);
                  });
  std::vector<DifferingDocument> surplus;
  for (FoundDocument& document : stale(there, seen)) {
    surplus.push_back({std::move(document), Difference::kSurplus, {}});
  }
  found(index, std::move(surplus));
}

// Waits until Elasticsearch has acknowledged everything before `position`, large changes that became jobs
// included.
void Verification::wait_for(const AppliedIndex& index, const Position& position) {
  const auto wait = [&](const auto& done) {
    while (!done() && still_led()) {
      report(VerifyProgress::Phase::kWaiting);
      std::this_thread::sleep_for(kPoll);
    }
  };
  if (!led_) return;
  wait([&] { return source_.changes().has_passed(position); });
  std::set<JobId> jobs;
  for (const Job& job : source_.changes().jobs().readable) {
    if (job.index == index.id) jobs.insert(job.id);
  }
  for (const JobId repair : repairs_) jobs.erase(repair);
  wait([&] {
    if (jobs.empty()) return true;
    const UnfinishedJobs left = source_.changes().jobs();
    return std::none_of(jobs.begin(), jobs.end(), [&](JobId job) { return left.contains(job); });
  });
}

bool Verification::still_led() {
  const SteadyTime begin = std::chrono::steady_clock::now();
  while (led_ && !source_.lead().is_led()) {
    led_ = std::chrono::steady_clock::now() - begin < kChangeOfLead;
    std::this_thread::sleep_for(kPoll);
  }
  return led_;
}

void Verification::found(const AppliedIndex& index, std::vector<DifferingDocument> differing) {
  if (differing.empty()) return;
  DeadLetterFilter of_these;
  of_these.indices = {index.id};
  for (const DifferingDocument& document : differing) of_these.ids.push_back(document.document.id);
  std::map<DocumentId, std::string> refusals;
  for (const StoredDeadLetter& stored :
       source_.dead_letters().find(of_these, std::nullopt, std::numeric_limits<std::int64_t>::max())) {
    refusals[stored.letter.id] = stored.letter.error_type + ": " + stored.letter.reason;
  }
  for (DifferingDocument& document : differing) {
    const auto refusal = refusals.find(document.document.id);
    if (refusal != refusals.end()) document.refusal = refusal->second;
    switch (document.difference) {
      case Difference::kMissing:
        ++result_.missing;
        break;
      case Difference::kDifferent:
        ++result_.different;
        break;
      case Difference::kSurplus:
        ++result_.surplus;
        break;
    }
    listener_.difference(index, document);
    if (repair_ == Repair::kYes) to_repair_.push_back(std::move(document.document));
  }
  if (to_repair_.size() >= kRepairedTogether) repair(index);
}

void Verification::repair(const AppliedIndex& index) {
  if (to_repair_.empty()) return;
  const std::unique_ptr<SourceTransaction> transaction = source_.changes().begin_repair();
  transaction->add_repair(index, std::exchange(to_repair_, {}), "verify --repair");
  for (const Job& job : transaction->commit()) repairs_.push_back(job.id);
}

void Verification::report(VerifyProgress::Phase phase) {
  progress_.phase = phase;
  listener_.progress(progress_);
}

}  // namespace lockstep
