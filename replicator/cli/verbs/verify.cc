// `lockstep verify`: compares views and indices, and repairs differences.
#include <algorithm>
#include <chrono>
#include <iostream>

#include "replicator/cli/options/chosen_indices.h"
#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/text/difference_text.h"
#include "replicator/cli/text/progress_line.h"
#include "replicator/cli/verb.h"
#include "replicator/cli/verbs/finish_work.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/error.h"
#include "replicator/pipeline/leadership.h"
#include "replicator/pipeline/repair/verification.h"
#include "replicator/quantity.h"
#include "replicator/service/rate_meter.h"
#include "replicator/service/readable.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

/// "posts  different  "17"  routing "3"  refused: mapper_parsing_exception: …"
std::string line_of(const AppliedIndex& index, const DifferingDocument& differing, const char* still) {
  std::string line =
      difference_text(index.alias, still + std::string(to_string(differing.difference)), differing.document);
  if (!differing.refusal.empty()) line += "\trefused: " + differing.refusal;
  return line + "\n";
}

std::string summary_of(const VerifiedIndex& index) {
  std::string text = index.alias + ": " + counted(index.documents, "document") + " compared, ";
  if (index.missing + index.different + index.surplus == 0) {
    text += index.reordered > 0 ? "none missing, different or surplus" : "equal";
    if (!index.reshaped.empty() || !index.without.empty())
      text += " in the fields that they have";
    else if (!index.ingest_pipelines.empty())
      text += " in the fields of the view";
  } else {
    text += grouped(index.missing) + " missing, " + grouped(index.different) + " different, " +
            grouped(index.surplus) + " surplus";
  }
  for (const std::string& pipeline : index.ingest_pipelines)
    text += "; the ingest pipeline " + pipeline + " may add other fields, which are not compared";
  if (index.reordered > 0)
    text += "; " + grouped(index.reordered) + (index.reordered == 1 ? " is" : " are") +
            " equal but for the order of an array";
  if (!index.unproven.empty()) text += "; not proven yet, " + index.unproven;
  if (!index.reshaped.empty())
    text +=
        "; the view has another shape since the last `apply`, " + index.reshaped + ": run `lockstep apply`";
  if (!index.without.empty()) text += "; kept without what its view got later, " + index.without;
  if (index.undecided > 0) text += "; " + grouped(index.undecided) + " never stopped changing";
  return text + "\n";
}

// Longer than a node takes to restart, or to get through the queries of a busy hour.
constexpr auto kPatience = std::chrono::minutes(10);

constexpr const char* kNotRepaired =
    "not repaired: documents differ after they were written again; those that Elasticsearch refuses are in "
    "`lockstep dead-letters list`, others were changed by an ingest pipeline or by another writer\n";

class Verify final : public Verb {
 public:
  const char* name() const override { return "verify"; }
  const char* summary() const override { return "Compare views and indices, document by document"; }
  const char* example() const override {
    return "lockstep verify -c shop.toml\nlockstep verify -c shop.toml products --repair";
  }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    options.option("ALIAS", aliases_, "The indices to compare; default: all of the pipeline's");
    options.flag("--repair", repair_, "Write the documents that differ, and no others");
    options.flag("--any-order", any_order_,
                 "Count documents as equal that differ in the order of arrays alone");
  }

  ExitCode run() override {
    const Config config = pipeline_.load();
    while (true) {
      std::string revision;
      try {
        return run(config, revision);
      } catch (const Error&) {
        // An index that was compared may be gone, and another one have its alias.
        if (revision.empty() || open_source(config, "verify")->revision() == revision) throw;
        line_.clear();
        std::cerr << "`apply` or a reindex has changed the pipeline in the meantime: comparing again\n";
      }
    }
  }

 private:
  /// `revision` becomes the pipeline's that it compares.
  ExitCode run(const Config& config, std::string& revision) {
    std::unique_ptr<Source> source = open_source(config, "verify");
    const AppliedPipeline pipeline = load_applied(config, *source);  // a copy: repairing may reload it
    revision = pipeline.revision;
    const std::vector<const AppliedIndex*> indices = chosen_indices(pipeline, aliases_);
    const BulkWriter::TransportFactory transports = make_transport_factory(config.elasticsearch);
    ElasticsearchClient elasticsearch(
        transports(), config.elasticsearch.request_timeout,
        {.limit = kPatience, .waiting = [this](const Error& busy, auto waited) { show_busy(busy, waited); }});

    const Results found = compare(config, *source, elasticsearch, indices,
                                  repair_ ? Verification::Repair::kYes : Verification::Repair::kNo, "");
    if (!found.repairs.empty()) {
      std::cerr << "repairing\n";
      finish_work(config, *source, transports, found.repairs);
      std::cerr << "comparing the differences again\n";
      source.reset();  // it may have led, which a comparison would wait for
      source = open_source(config, "verify");
      load_applied(config, *source);
      const Results left =
          compare(config, *source, elasticsearch, found.unequal, Verification::Repair::kNo, "still ");
      std::cerr << (left.unequal.empty() ? "repaired\n" : kNotRepaired);
    }
    return found.unequal.empty() ? ExitCode::kDone : ExitCode::kDifference;
  }

  using Indices = std::vector<const AppliedIndex*>;

  struct Results {
    Indices unequal;
    AddedWork repairs;
  };

  Results compare(const Config& config, Source& source, ElasticsearchClient& elasticsearch,
                  const Indices& indices, Verification::Repair repair, const char* still) {
    Verification verification(config, source, elasticsearch,
                              {.progress = [this](const VerifyProgress& progress) { show(progress); },
                               .difference =
                                   [&](const AppliedIndex& index, const DifferingDocument& differing) {
                                     line_.clear();
                                     std::cout << line_of(index, differing, still) << std::flush;
                                   }},
                              repair, order());
    Results results;
    bool is_reordered = false;
    for (const AppliedIndex* index : indices) {
      const VerifiedIndex verified = verification.compare(*index);
      line_.clear();
      std::cerr << summary_of(verified);
      is_reordered = is_reordered || (verified.reordered > 0 && !any_order_);
      if (!verified.equal(order())) results.unequal.push_back(index);
    }
    if (is_reordered) {
      std::cerr
          << "an array without an order differs with each reading: write it into the view, json_agg(… order "
             "by …), or compare with --any-order\n";
    }
    if (!results.unequal.empty() && !verification.led()) {
      std::cerr << "no process runs this pipeline: pending changes count as differences\n";
    }
    results.repairs = verification.repairs();
    return results;
  }

  ArrayOrder order() const { return any_order_ ? ArrayOrder::kAny : ArrayOrder::kCounts; }

  void show(const VerifyProgress& progress) {
    if (progress.done < last_done_) rate_ = RateMeter();  // another pass
    last_done_ = progress.done;
    rate_.add(std::chrono::steady_clock::now(), progress.done);
    if (!line_.due()) return;
    if (progress.phase == VerifyProgress::Phase::kWaiting) {
      line_.show(progress.alias + ": waiting until pending changes have been applied");
      return;
    }
    const bool comparing = progress.phase == VerifyProgress::Phase::kComparing;
    line_.show(progress.alias + (comparing ? ": comparing " : ": looking for missing ones ") +
               progress_bar(progress.done, std::max({progress.total, progress.done, std::int64_t{1}}),
                            rate_.per_second()));
  }

  void show_busy(const Error& busy, std::chrono::milliseconds waited) {
    if (line_.due())
      line_.show("Elasticsearch is busy, waiting for " + readable(waited) + ": " + busy.what());
  }

  PipelineOption pipeline_;
  std::vector<std::string> aliases_;
  bool repair_ = false;
  bool any_order_ = false;
  ProgressLine line_;
  RateMeter rate_;
  std::int64_t last_done_ = 0;
};

}  // namespace

std::unique_ptr<Verb> make_verify_verb() {
  return std::make_unique<Verify>();
}

}  // namespace lockstep
