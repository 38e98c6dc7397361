#include "replicator/pipeline/repair/verification.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "replicator/clock.h"
#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/elasticsearch/admin/ingest_pipelines.h"
#include "replicator/elasticsearch/read/document_reader.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSuspects = 1'000;           // judged together
constexpr std::size_t kKeptSuspects = 50'000;      // until a pass is over; more are judged in between
constexpr auto kScanLifetime = 60min;              // of the first pass, which judging may interrupt for long
constexpr std::size_t kRepairedTogether = 10'000;  // documents of one job
constexpr int kJudgements = 10;                    // of a document that goes on changing
constexpr auto kPoll = 50ms;                       // between looks at what is pending
constexpr auto kChangeOfLead = 10s;                // without a leader for longer, nothing is waited for

// Documents of a page of the index. A page has to fit into memory, and costs a request.
constexpr std::int64_t kPageStored = 1024 * 1024;  // bytes on the disk; several times as much as JSON
constexpr std::int64_t kLargestPage = 2'000;
constexpr std::size_t kCautiousPage = 100;  // when the size of documents is unknown

std::size_t page_of(std::optional<std::int64_t> average_stored_size) {
  if (!average_stored_size) return kCautiousPage;
  const std::int64_t page = kPageStored / std::max<std::int64_t>(*average_stored_size, 1);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(page, 1, kLargestPage));
}

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

/// Documents as the index has them.
struct Verification::IndexPage {
  std::vector<FoundDocument> documents;
  std::vector<std::string> json;  ///< of each
};

struct Verification::Suspects {
  std::vector<FoundDocument> different;  ///< or missing
  std::vector<FoundDocument> surplus;

  std::size_t size() const { return different.size() + surplus.size(); }
  void add(Suspects more) {
    different.insert(different.end(), std::make_move_iterator(more.different.begin()),
                     std::make_move_iterator(more.different.end()));
    surplus.insert(surplus.end(), std::make_move_iterator(more.surplus.begin()),
                   std::make_move_iterator(more.surplus.end()));
  }
};

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
  compare_documents(index);
  progress_.done = 0;
  elasticsearch_.refresh(index.target());
  look_for_missing(index);
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

void Verification::compare_documents(const AppliedIndex& index) {
  const std::optional<std::int64_t> size = elasticsearch_.average_stored_size(index.target());
  DocumentScan scan(elasticsearch_, index.target(),
                    {.page = page_of(size), .sources = true, .lifetime = kScanLifetime});
  const auto read = [&] {
    IndexPage page;
    for (const StoredDocument& document : scan.next()) {
      page.documents.push_back({DocumentId{std::string(document.id)}, std::string(document.routing)});
      page.json.emplace_back(document.source);
    }
    return page;
  };

  one_each_ = !index.routed;
  Suspects suspects;
  // Reads the next page while this one is compared. Elasticsearch is not used otherwise until then.
  std::future<IndexPage> next = std::async(std::launch::async, read);
  for (bool end = false; !end;) {
    const IndexPage page = next.get();
    end = page.documents.empty();
    if (!end) {
      next = std::async(std::launch::async, read);
      suspects.add(suspects_of(index, page));
      one_each_ = one_each_ && suspects.surplus.empty();
      progress_.done += static_cast<std::int64_t>(page.documents.size());
      report(VerifyProgress::Phase::kComparing);
    }
    if (suspects.size() >= kKeptSuspects || end) {
      if (!end) next.wait();
      judge(index, std::exchange(suspects, {}));
    }
  }
}

Verification::Suspects Verification::suspects_of(const AppliedIndex& index, const IndexPage& page) {
  const std::unique_ptr<SourceSnapshot> snapshot = source_.changes().read();
  Suspects suspects;
  std::set<FoundDocument> surplus;
  for (StaleDocument& stale : snapshot->stale(index, page.documents)) {
    surplus.insert(stale.found);
    suspects.surplus.push_back(std::move(stale.found));
  }
  std::unordered_map<std::string_view, std::size_t> unequal;  // by id, the position in the page
  DocumentIds ids;
  for (std::size_t i = 0; i < page.documents.size(); ++i) {
    const FoundDocument& document = page.documents[i];
    if (surplus.contains(document)) continue;
    unequal.emplace(document.id.text, i);
    ids.push_back(document.id);
  }
  while (!ids.empty()) {
    ids =
        snapshot->render(index, ids, config_.elasticsearch.bulk_bytes, [&](const RenderedDocument& document) {
          const auto at = unequal.find(document.id);
          if (at == unequal.end() || !document.json) return;
          if (is_equal(compared_, *document.json, page.json[at->second])) unequal.erase(at);
        });
  }
  for (const auto& [id, i] : unequal) suspects.different.push_back(page.documents[i]);
  return suspects;
}

void Verification::look_for_missing(const AppliedIndex& index) {
  const auto read_after = [&](const std::optional<DocumentId>& after) {
    return read_view_page(source_.changes(), index, after, config_.replication.chunk_documents,
                          config_.elasticsearch.bulk_bytes);
  };

  Suspects suspects;
  // Reads the next page while this one is counted. The source is not used otherwise until then.
  std::future<ViewPage> next = std::async(std::launch::async, read_after, std::nullopt);
  for (bool end = false; !end;) {
    const ViewPage page = next.get();
    end = page.end;
    if (!end) next = std::async(std::launch::async, read_after, page.last);
    const auto expected = static_cast<std::int64_t>(page.documents.size());
    const std::vector<DocumentLocation> locations = locations_of(page.documents);
    if (!one_each_ || count_documents(elasticsearch_, index.target(), locations) != expected) {
      fetch_documents(elasticsearch_, index.target(), locations,
                      [&](std::size_t i, const std::optional<StoredDocument>& stored) {
                        const FoundDocument& document = page.documents[i];
                        if (!stored || stored->routing != document.routing)
                          suspects.different.push_back(document);
                      });
    }
    result_.documents += expected;
    progress_.done = result_.documents;
    report(VerifyProgress::Phase::kLookingForMissing);
    if (suspects.size() >= kKeptSuspects || end) {
      if (!end) next.wait();
      judge(index, std::exchange(suspects, {}));
    }
  }
}

void Verification::judge(const AppliedIndex& index, const Suspects& suspects) {
  for_each_part(suspects.different, [&](std::vector<FoundDocument> part) {
    for (int judgement = 0; judgement < kJudgements && !part.empty(); ++judgement) {
      part = judge_once(index, std::move(part));
    }
    result_.undecided += static_cast<std::int64_t>(part.size());
  });
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
