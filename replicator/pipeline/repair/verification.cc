#include "replicator/pipeline/repair/verification.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/elasticsearch/admin/ingest_pipelines.h"
#include "replicator/elasticsearch/read/document_reader.h"
#include "replicator/error.h"
#include "replicator/pause.h"
#include "replicator/source/index_definition.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSuspects = 1'000;           // read from the index together
constexpr std::size_t kRepairedTogether = 10'000;  // documents of one job
constexpr int kJudgements = 10;                    // of a document that changes again and again
constexpr auto kPatience = 5s;                     // for these, if the first wait was not longer
constexpr auto kPoll = 50ms;                       // between looks at the pending changes
constexpr auto kChangeOfLead = 10s;                // without a leader for longer, nothing is waited for

template <typename Step>
void for_each_part(const std::vector<FoundDocument>& documents, const Step& step) {
  for (std::size_t begin = 0; begin < documents.size(); begin += kSuspects) {
    const std::size_t end = std::min(begin + kSuspects, documents.size());
    step(std::vector<FoundDocument>(documents.begin() + static_cast<std::ptrdiff_t>(begin),
                                    documents.begin() + static_cast<std::ptrdiff_t>(end)));
  }
}

// Each once: one _id may be there under several routings.
DocumentIds ids_of(const std::vector<FoundDocument>& documents) {
  std::set<DocumentId> ids;
  for (const FoundDocument& document : documents) ids.insert(document.id);
  return {ids.begin(), ids.end()};
}

// Two routings may lead to one shard, which finds the document under the other one too.
std::optional<DocumentVersion> version_under(const std::string& routing,
                                             const std::optional<StoredDocument>& stored) {
  return stored && stored->routing == routing ? std::optional(stored->version) : std::nullopt;
}

// False for one that was not looked up.
bool is_at(const std::optional<DocumentVersion>& version, const FoundDocument& document,
           const std::map<FoundDocument, std::optional<DocumentVersion>>& before) {
  const auto then = before.find(document);
  return then != before.end() && then->second == version;
}

}  // namespace

std::string_view to_string(Difference difference) {
  switch (difference) {
    case Difference::kMissing:
      return "missing";
    case Difference::kDifferent:
      return "different";
    case Difference::kReordered:
      return "reordered";
    case Difference::kSurplus:
      return "surplus";
  }
  throw std::logic_error("a difference without a name");
}

Verification::Verification(const Config& config, Source& source, ElasticsearchClient& elasticsearch,
                           Listener listener, Repair repair, ArrayOrder order)
    : config_(config),
      source_(source),
      elasticsearch_(elasticsearch),
      listener_(std::move(listener)),
      repair_(repair),
      revision_(source.pipeline().revision),
      order_(order),
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
                 .suspects = [&](Suspects suspects) { judge(index, std::move(suspects)); }});
  passes.compare_documents();
  progress_.done = 0;
  phase = VerifyProgress::Phase::kLookingForMissing;
  elasticsearch_.refresh(index.target());
  result_.documents = passes.look_for_missing();
  judge_refused(index);
  repair(index);
  result_.unproven = unwritten(index);
  compare_shape(index);
  return result_;
}

// Contents do not show with which mapping a document was indexed. `apply` clears the mark after it has added
// the job, so the mark is read first.
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

// Last, since the view may have been replaced meanwhile.
void Verification::compare_shape(const AppliedIndex& index) {
  std::vector<DefinitionDifference> differences = source_.changes().read()->reshaped(index);
  const std::vector<Reindex> reindexes = source_.reindexes().all();
  const bool is_kept = std::any_of(reindexes.begin(), reindexes.end(), [&](const Reindex& each) {
    return each.was_swapped && each.beside == index.id;
  });
  const auto later = std::stable_partition(
      differences.begin(), differences.end(),
      [&](const DefinitionDifference& each) { return !is_kept || !is_later_field(each); });
  result_.without = shape_text({later, differences.end()});
  result_.reshaped = shape_text({differences.begin(), later});
}

// If changes come faster than they are applied, each wait is longer than the one before. So all suspects wait
// together, the first time as long as it takes.
void Verification::judge(const AppliedIndex& index, Suspects suspects) {
  std::optional<SteadyTime> deadline;
  for (int judgement = 0; judgement < kJudgements && suspects.size() > 0; ++judgement) {
    const SteadyTime begin = steady_now();
    suspects = judge_once(index, std::move(suspects), deadline);
    const SteadyTime now = steady_now();
    if (!deadline) deadline = now + std::max<SteadyTime::duration>(kPatience, now - begin);
  }
  result_.undecided += static_cast<std::int64_t>(suspects.size());
}

// Returns the suspects that changed meanwhile, or all when `deadline` came first.
Suspects Verification::judge_once(const AppliedIndex& index, Suspects suspects,
                                  const std::optional<SteadyTime>& deadline) {
  ViewState before = state_of(index, suspects);
  if (!wait_for(index, before.position, deadline)) return suspects;
  Suspects missing;
  Suspects undecided;
  std::vector<FoundDocument> expected;
  for (const std::vector<FoundDocument>* documents : {&suspects.missing, &suspects.different}) {
    for (const FoundDocument& document : *documents)
      (before.documents[document.id] ? expected : undecided.surplus).push_back(document);
  }
  for_each_part(expected, [&](const std::vector<FoundDocument>& part) {
    judge_expected(index, part, before, missing, undecided);
  });
  for_each_part(before.stale, [&](const std::vector<FoundDocument>& part) {
    judge_surplus(index, part, before.versions, undecided);
  });
  judge_missing(index, std::move(missing), deadline, undecided);
  return undecided;
}

Verification::ViewState Verification::state_of(const AppliedIndex& index, const Suspects& suspects) {
  ViewState state;
  for (const std::vector<FoundDocument>* documents :
       {&suspects.missing, &suspects.different, &suspects.surplus}) {
    for_each_part(*documents, [&](const std::vector<FoundDocument>& part) {
      state.versions.merge(versions_of(index, part));
    });
  }
  const std::unique_ptr<SourceSnapshot> snapshot = source_.changes().read();
  state.position = snapshot->position();
  for (const std::vector<FoundDocument>* documents : {&suspects.missing, &suspects.different}) {
    for_each_part(*documents, [&](const std::vector<FoundDocument>& part) {
      state.documents.merge(fingerprints(*snapshot, index, ids_of(part)));
    });
  }
  for_each_part(suspects.surplus, [&](const std::vector<FoundDocument>& part) {
    for (StaleDocument& document : snapshot->stale(index, part))
      state.stale.push_back(std::move(document.found));
  });
  return state;
}

Verification::Fingerprints Verification::fingerprints(SourceSnapshot& snapshot, const AppliedIndex& index,
                                                      DocumentIds ids) {
  Fingerprints found;
  while (!ids.empty()) {
    ids =
        snapshot.render(index, ids, config_.elasticsearch.bulk_bytes, [&](const RenderedDocument& document) {
          found[DocumentId{std::string(document.id)}] =
              document.json ? std::optional(fingerprint_of(document.routing, *document.json)) : std::nullopt;
        });
  }
  return found;
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

// A refused document may have the view's contents all the same, but it is indexed by an older mapping.
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
      wait_for(index, seen, std::nullopt);
      found(index, still_refused(index, equal_of(index, refused, view)));
    }
  }
}

// REQUIRES: the view has them.
std::vector<DocumentLocation> Verification::locations_in(const View& view,
                                                         const std::vector<FoundDocument>& documents) {
  std::vector<DocumentLocation> locations;
  for (const FoundDocument& document : documents)
    locations.push_back({document.id.text, document.routing, view.at(document.id)->json.size()});
  return locations;
}

std::vector<FoundDocument> Verification::equal_of(const AppliedIndex& index,
                                                  const std::vector<FoundDocument>& documents,
                                                  const View& view) {
  std::vector<FoundDocument> equal;
  fetch_documents(elasticsearch_, index.target(), locations_in(view, documents),
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

// REQUIRES: Elasticsearch has acknowledged everything `before`, and the view had the documents then. Those
// not written since would be as the view was then; written ones may be on their way.
void Verification::judge_expected(const AppliedIndex& index, const std::vector<FoundDocument>& suspects,
                                  const ViewState& before, Suspects& missing, Suspects& undecided) {
  DocumentIds ids = ids_of(suspects);
  while (!ids.empty()) {
    View view;
    Position seen;
    ids = read_view(index, ids, view, seen);
    std::vector<FoundDocument> expected;
    for (const auto& [id, document] : view) {
      if (document)
        expected.push_back({id, document->routing});
      else
        undecided.surplus.push_back({id, before.documents.at(id)->routing});
    }
    std::vector<DifferingDocument> certain;
    fetch_documents(elasticsearch_, index.target(), locations_in(view, expected),
                    [&](std::size_t i, const std::optional<StoredDocument>& stored) {
                      const FoundDocument& document = expected[i];
                      const Expected& now = *view.at(document.id);
                      const std::optional<DocumentVersion> version = version_under(now.routing, stored);
                      if (version && is_equal(compared_, now.json, stored->source)) return;
                      if (!is_at(version, document, before.versions) ||
                          fingerprint_of(now.routing, now.json) != before.documents.at(document.id))
                        undecided.different.push_back(document);
                      else if (version)
                        certain.push_back({document, how_they_differ(now.json, stored->source), {}});
                      else
                        missing.missing.push_back(document);
                    });
    found(index, std::move(certain));
  }
}

// One that is missing has no version: it may have been written and deleted between two looks. So it has to be
// missing still once everything before another snapshot with it is applied.
void Verification::judge_missing(const AppliedIndex& index, Suspects missing,
                                 const std::optional<SteadyTime>& deadline, Suspects& undecided) {
  if (missing.size() == 0) return;
  const ViewState state = state_of(index, missing);
  if (!wait_for(index, state.position, deadline)) return undecided.add(std::move(missing));
  for_each_part(missing.missing, [&](const std::vector<FoundDocument>& part) {
    const Versions versions = versions_of(index, part);
    const Fingerprints after = fingerprints(*source_.changes().read(), index, ids_of(part));
    std::vector<DifferingDocument> certain;
    for (const FoundDocument& document : part) {
      const std::optional<Fingerprint>& then = state.documents.at(document.id);
      const bool is_expected = then && then->routing == document.routing && after.at(document.id) == then;
      if (is_expected && !versions.at(document) && is_at(std::nullopt, document, state.versions))
        certain.push_back({document, Difference::kMissing, {}});
      else
        undecided.missing.push_back(document);
    }
    found(index, std::move(certain));
  });
}

Verification::Versions Verification::versions_of(const AppliedIndex& index,
                                                 const std::vector<FoundDocument>& documents) {
  Versions versions;
  look_up_documents(elasticsearch_, index.target(), locations_of(documents),
                    [&](std::size_t i, const std::optional<StoredDocument>& stored) {
                      versions[documents[i]] = version_under(documents[i].routing, stored);
                    });
  return versions;
}

// REQUIRES: Elasticsearch has acknowledged all that came before a snapshot without the documents, which had
// these versions `before`.
void Verification::judge_surplus(const AppliedIndex& index, const std::vector<FoundDocument>& suspects,
                                 const Versions& before, Suspects& undecided) {
  std::vector<DifferingDocument> certain;
  for (const auto& [document, version] : versions_of(index, suspects)) {
    if (!version) continue;
    if (is_at(version, document, before))
      certain.push_back({document, Difference::kSurplus, {}});
    else
      undecided.surplus.push_back(document);
  }
  found(index, std::move(certain));
}

// Waits until Elasticsearch has acknowledged everything before `position`, due documents included. False:
// `deadline` came first.
bool Verification::wait_for(const AppliedIndex& index, const Position& position,
                            const std::optional<SteadyTime>& deadline) {
  const auto is_late = [&] { return deadline && steady_now() >= *deadline; };
  const auto wait = [&](const auto& done) {
    while (!done() && still_led()) {
      if (is_late()) return false;
      report(VerifyProgress::Phase::kWaiting);
      pause(kPoll, {});
    }
    return true;
  };
  if (!led_) return true;
  if (!wait([&] { return source_.changes().has_passed(position); })) return false;
  const AddedWork work = AddedWork::all_of(index.id, source_.changes());
  return wait([&] { return work.is_done(source_.changes()); });
}

bool Verification::still_led() {
  const SteadyTime begin = steady_now();
  while (led_ && !source_.lead().is_led()) {
    led_ = steady_now() - begin < kChangeOfLead;
    pause(kPoll, {});
  }
  return led_;
}

void Verification::require_same_pipeline() const {
  if (source_.revision() == revision_) return;
  throw Error({"comparing documents", "`apply` or a reindex has changed the pipeline in the meantime",
               "compare again", Retry::kLater});
}

void Verification::found(const AppliedIndex& index, std::vector<DifferingDocument> differing) {
  if (differing.empty()) return;
  require_same_pipeline();
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
      case Difference::kReordered:
        ++result_.reordered;
        if (order_ == ArrayOrder::kAny) continue;
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
  transaction->add_repair(index, std::exchange(to_repair_, {}), {.reason = "verify --repair"});
  repairs_.add(transaction->commit(), source_.changes());
}

void Verification::report(VerifyProgress::Phase phase) {
  progress_.phase = phase;
  listener_.progress(progress_);
}

}  // namespace lockstep
