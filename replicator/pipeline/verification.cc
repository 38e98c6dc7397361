#include "replicator/pipeline/verification.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "replicator/clock.h"
#include "replicator/elasticsearch/document_reader.h"
#include "replicator/pipeline/canonical_json.h"
#include "replicator/pipeline/view_page.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSuspects = 1'000;           // judged together
constexpr std::size_t kRepairedTogether = 10'000;  // documents of one job
constexpr int kJudgements = 10;                    // of a document that goes on changing
constexpr auto kPoll = 50ms;                       // between looks at what is pending
constexpr auto kChangeOfLead = 10s;                // so long nobody may lead before nothing is waited for

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
  return "";
}

/// A document as the view gives it.
struct Verification::Expected {
  std::string routing;
  std::string json;
  bool operator==(const Expected&) const = default;
};

Verification::Verification(const Config& config, Source& source, ElasticsearchClient& elasticsearch,
                           Listener listener, Repair repair)
    : config_(config),
      source_(source),
      elasticsearch_(elasticsearch),
      listener_(std::move(listener)),
      repair_(repair),
      led_(source.is_led()) {}

VerifiedIndex Verification::compare(const AppliedIndex& index) {
  result_ = {.alias = index.alias};
  progress_ = {.alias = index.alias};
  elasticsearch_.refresh(index.alias);
  progress_.total = elasticsearch_.count(index.alias);
  compare_view(index);
  progress_.done = 0;
  look_for_surplus(index);
  repair(index);
  return result_;
}

void Verification::compare_view(const AppliedIndex& index) {
  const auto read_after = [&](const std::optional<std::string>& after) {
    return read_view_page(source_, index, after, config_.replication.chunk_documents,
                          config_.elasticsearch.bulk_bytes);
  };

  std::vector<FoundDocument> suspects;
  // The next page is read while this one is looked up; nobody else asks the source until it is there.
  std::future<ViewPage> next = std::async(std::launch::async, read_after, std::nullopt);
  for (bool end = false; !end;) {
    const ViewPage page = next.get();
    end = page.end;
    if (!end) next = std::async(std::launch::async, read_after, page.last);
    std::vector<FoundDocument> more = find_different(elasticsearch_, index, page);
    suspects.insert(suspects.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
    result_.documents += static_cast<std::int64_t>(page.documents.size());
    progress_.done = result_.documents;
    report(VerifyProgress::Phase::kComparing);
    if (suspects.size() >= kSuspects || end) {
      if (!end) next.wait();
      judge(index, std::exchange(suspects, {}));
    }
  }
}

void Verification::judge(const AppliedIndex& index, std::vector<FoundDocument> suspects) {
  for (int judgement = 0; judgement < kJudgements && !suspects.empty(); ++judgement) {
    suspects = judge_once(index, std::move(suspects));
  }
  result_.undecided += static_cast<std::int64_t>(suspects.size());
}

// Returns those that changed meanwhile.
std::vector<FoundDocument> Verification::judge_once(const AppliedIndex& index,
                                                    std::vector<FoundDocument> suspects) {
  using View = std::unordered_map<std::string, Expected>;
  const auto read = [&](const Values& ids, View& view, Position& place) {
    const auto transaction = source_.begin_reading();
    place = transaction->place();
    return transaction->render(
        index, ids, config_.elasticsearch.bulk_bytes, std::nullopt, [&](const RenderedDocument& document) {
          if (!document.json) return;  // the second pass finds it, if it is surplus
          view.emplace(document.id, Expected{std::string(document.routing), std::string(*document.json)});
        });
  };

  Values ids;
  for (FoundDocument& suspect : suspects) ids.push_back(std::move(suspect.id));
  std::vector<FoundDocument> undecided;
  while (!ids.empty()) {
    View before;
    Position place;
    const Values left_over = read(ids, before, place);
    wait_for(index, place);

    std::vector<FoundDocument> expected;
    for (const auto& [id, document] : before) expected.push_back({id, document.routing});
    std::vector<DifferingDocument> differing;
    fetch_documents(elasticsearch_, index.alias, locations_of(expected),
                    [&](std::size_t position, const std::optional<StoredDocument>& stored) {
                      const FoundDocument& document = expected[position];
                      if (!stored || stored->routing != document.routing) {
                        differing.push_back({document, Difference::kMissing, {}});
                      } else if (!same_json(before.at(document.id).json, stored->source)) {
                        differing.push_back({document, Difference::kDifferent, {}});
                      }
                    });

    Values again;
    for (const DifferingDocument& document : differing) again.push_back(document.document.id);
    View after;
    if (!again.empty()) read(again, after, place);
    std::vector<DifferingDocument> certain;
    for (DifferingDocument& document : differing) {
      const auto now = after.find(document.document.id);
      if (now != after.end() && now->second == before.at(document.document.id)) {
        certain.push_back(std::move(document));
      } else {
        undecided.push_back(std::move(document.document));
      }
    }
    found(index, std::move(certain));
    ids = left_over;
  }
  return undecided;
}

void Verification::look_for_surplus(const AppliedIndex& index) {
  elasticsearch_.refresh(index.alias);
  progress_.total = elasticsearch_.count(index.alias);
  std::vector<FoundDocument> suspects;
  scan_documents(elasticsearch_, index.alias, {}, [&](std::span<const StoredDocument> page) {
    std::vector<FoundDocument> documents;
    for (const StoredDocument& document : page) {
      documents.push_back({std::string(document.id), std::string(document.routing)});
    }
    for (StaleDocument& stale : source_.begin_reading()->stale(index, documents)) {
      suspects.push_back(std::move(stale.found));
    }
    progress_.done += static_cast<std::int64_t>(page.size());
    report(VerifyProgress::Phase::kLookingForSurplus);
    if (suspects.size() >= kSuspects) judge_surplus(index, std::exchange(suspects, {}));
  });
  judge_surplus(index, suspects);
}

void Verification::judge_surplus(const AppliedIndex& index, const std::vector<FoundDocument>& suspects) {
  if (suspects.empty()) return;
  const auto stale = [&](const std::vector<FoundDocument>& documents, Position& place) {
    const auto transaction = source_.begin_reading();
    place = transaction->place();
    std::vector<FoundDocument> found;
    for (StaleDocument& document : transaction->stale(index, documents)) {
      found.push_back(std::move(document.found));
    }
    return found;
  };
  Position place;
  const std::vector<FoundDocument> before = stale(suspects, place);
  wait_for(index, place);

  std::vector<FoundDocument> there;
  fetch_documents(elasticsearch_, index.alias, locations_of(before),
                  [&](std::size_t position, const std::optional<StoredDocument>& stored) {
                    // Two routings may lead to one shard, where the document under the other is found.
                    if (stored && stored->routing == before[position].routing)
                      there.push_back(before[position]);
                  });
  std::vector<DifferingDocument> surplus;
  for (FoundDocument& document : stale(there, place)) {
    surplus.push_back({std::move(document), Difference::kSurplus, {}});
  }
  found(index, std::move(surplus));
}

// Until Elasticsearch has acknowledged what the place saw, large changes that have become jobs included.
void Verification::wait_for(const AppliedIndex& index, const Position& place) {
  const auto wait = [&](const auto& done) {
    while (!done() && still_led()) {
      report(VerifyProgress::Phase::kWaiting);
      std::this_thread::sleep_for(kPoll);
    }
  };
  if (!led_) return;
  wait([&] { return source_.has_passed(place); });
  std::unordered_set<std::int64_t> jobs;
  for (const Job& job : source_.load_jobs()) {
    if (job.index == index.id) jobs.insert(job.id);
  }
  for (const std::int64_t repair : repairs_) jobs.erase(repair);
  wait([&] {
    if (jobs.empty()) return true;
    const std::vector<Job> left = source_.load_jobs();
    return std::none_of(left.begin(), left.end(), [&](const Job& job) { return jobs.count(job.id) > 0; });
  });
}

bool Verification::still_led() {
  const SteadyTime begin = std::chrono::steady_clock::now();
  while (led_ && !source_.is_led()) {
    led_ = std::chrono::steady_clock::now() - begin < kChangeOfLead;
    std::this_thread::sleep_for(kPoll);
  }
  return led_;
}

void Verification::found(const AppliedIndex& index, std::vector<DifferingDocument> differing) {
  if (differing.empty()) return;
  Values ids;
  for (const DifferingDocument& document : differing) ids.push_back(document.document.id);
  std::unordered_map<std::string, std::string> refusals;
  for (DeadLetter& letter : source_.dead_letters_of(index.id, ids)) {
    refusals[letter.id] = letter.error_type + ": " + letter.reason;
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
  const auto transaction = source_.begin();
  for (const Job& job : transaction->add_repair(index, std::exchange(to_repair_, {}), "verify --repair")) {
    repairs_.push_back(job.id);
  }
  transaction->commit();
}

void Verification::report(VerifyProgress::Phase phase) {
  progress_.phase = phase;
  listener_.progress(progress_);
}

}  // namespace lockstep
