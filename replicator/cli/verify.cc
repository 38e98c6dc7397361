#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "replicator/cli/pipeline_option.h"
#include "replicator/cli/progress_line.h"
#include "replicator/cli/verb.h"
#include "replicator/elasticsearch/client.h"
#include "replicator/elasticsearch/curl_transport.h"
#include "replicator/error.h"
#include "replicator/pipeline/leadership.h"
#include "replicator/pipeline/replicate.h"
#include "replicator/pipeline/verification.h"
#include "replicator/service/rate_meter.h"
#include "replicator/service/readable.h"
#include "replicator/service/signals.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

constexpr std::chrono::milliseconds kPoll{100};

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// "posts  different  "17"  routing "3"  refused: mapper_parsing_exception: …"
std::string line_of(const AppliedIndex& index, const DifferingDocument& differing) {
  std::string line = index.alias + "\t" + std::string(to_string(differing.difference)) + "\t" +
                     quoted(differing.document.id);
  if (!differing.document.routing.empty()) line += "\trouting " + quoted(differing.document.routing);
  if (!differing.refusal.empty()) line += "\trefused: " + differing.refusal;
  return line + "\n";
}

std::string summary_of(const VerifiedIndex& index) {
  std::string text = index.alias + ": " + grouped(index.documents) + " documents compared, ";
  if (index.equal()) {
    text += "equal";
  } else {
    text += grouped(index.missing) + " missing, " + grouped(index.different) + " different, " +
            grouped(index.surplus) + " surplus";
  }
  if (index.undecided > 0) text += "; " + grouped(index.undecided) + " never stopped changing";
  return text + "\n";
}

class Verify final : public Verb {
 public:
  const char* name() const override { return "verify"; }
  const char* summary() const override { return "Compare views and indices, document by document"; }
  const char* example() const override {
    return "lockstep verify -c shop.toml\nlockstep verify -c shop.toml products --repair";
  }

  void add_options(CLI::App& app) override {
    pipeline_.add_to(app);
    app.add_option("ALIAS", aliases_, "The indices to compare; default: all of the pipeline");
    app.add_flag("--repair", repair_, "Write what differs, and nothing else");
  }

  ExitCode run() override {
    const Config config = pipeline_.load();
    const std::unique_ptr<Source> source = open_source(config, "verify");
    const AppliedPipeline pipeline = load_applied(config, *source);
    const std::vector<const AppliedIndex*> indices = chosen(pipeline);
    const BulkWriter::TransportFactory transports = make_transport_factory(config.elasticsearch);
    ElasticsearchClient elasticsearch(transports(), config.elasticsearch.request_timeout);

    Verification verification(config, *source, elasticsearch,
                              {.progress = [this](const VerifyProgress& progress) { show(progress); },
                               .difference =
                                   [this](const AppliedIndex& index, const DifferingDocument& differing) {
                                     line_.clear();
                                     std::cout << line_of(index, differing) << std::flush;
                                   }},
                              repair_ ? Verification::Repair::kYes : Verification::Repair::kNo);
    bool equal = true;
    for (const AppliedIndex* index : indices) {
      const VerifiedIndex verified = verification.compare(*index);
      line_.clear();
      std::cerr << summary_of(verified);
      equal = equal && verified.equal();
    }
    if (!equal && !verification.led()) {
      std::cerr << "nobody runs this pipeline: changes that are pending count as differences\n";
    }
    if (!verification.repairs().empty()) mend(config, *source, transports, verification.repairs());
    return equal ? ExitCode::kDone : ExitCode::kDifference;
  }

 private:
  std::vector<const AppliedIndex*> chosen(const AppliedPipeline& pipeline) const {
    std::vector<const AppliedIndex*> indices;
    if (aliases_.empty()) {
      for (const AppliedIndex& index : pipeline.indices) indices.push_back(&index);
    }
    for (const std::string& alias : aliases_) {
      const auto index = std::find_if(pipeline.indices.begin(), pipeline.indices.end(),
                                      [&](const AppliedIndex& known) { return known.alias == alias; });
      if (index == pipeline.indices.end()) {
        std::string known;
        for (const AppliedIndex& other : pipeline.indices) known += (known.empty() ? "" : ", ") + other.alias;
        throw UsageError("pipeline " + pipeline.name + " has no index '" + alias + "'; it has " + known);
      }
      indices.push_back(&*index);
    }
    return indices;
  }

  void show(const VerifyProgress& progress) {
    if (progress.done < last_done_) rate_ = RateMeter();  // another pass
    last_done_ = progress.done;
    rate_.add(std::chrono::steady_clock::now(), progress.done);
    if (!line_.due()) return;
    if (progress.phase == VerifyProgress::Phase::kWaiting) {
      line_.show(progress.alias + ": waiting until what is pending has been applied");
      return;
    }
    const bool comparing = progress.phase == VerifyProgress::Phase::kComparing;
    line_.show(progress.alias + (comparing ? ": comparing " : ": looking for surplus ") +
               progress_bar(progress.done, std::max({progress.total, progress.done, std::int64_t{1}}),
                            rate_.per_second()));
  }

  // The repairs are jobs of the pipeline: whoever leads does them, and this process when nobody does.
  void mend(const Config& config, Source& source, const BulkWriter::TransportFactory& transports,
            const std::vector<std::int64_t>& repairs) {
    std::cerr << "repairing\n";
    const StopSignals signals;
    ProgressBoard board;
    while (!signals.token().stop_requested()) {
      if (source.try_lead()) {
        replicate(config, source, transports, board, RunUntil::kCaughtUp, signals.token());
        break;
      }
      const std::vector<Job> jobs = source.load_jobs();
      const bool done = std::none_of(jobs.begin(), jobs.end(), [&](const Job& job) {
        return std::find(repairs.begin(), repairs.end(), job.id) != repairs.end();
      });
      if (done) break;
      if (line_.due()) line_.show("waiting until the leading process has repaired");
      std::this_thread::sleep_for(kPoll);
    }
    line_.clear();
    if (signals.token().stop_requested()) {
      throw Error({"repairing", "interrupted", "`lockstep run` does the rest"});
    }
    std::cerr << "repaired\n";
  }

  PipelineOption pipeline_;
  std::vector<std::string> aliases_;
  bool repair_ = false;
  ProgressLine line_;
  RateMeter rate_;
  std::int64_t last_done_ = 0;
};

}  // namespace

std::unique_ptr<Verb> make_verify_verb() {
  return std::make_unique<Verify>();
}

}  // namespace lockstep
