#include "replicator/service/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <map>
#include <utility>

namespace lockstep {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

constexpr std::array kStates = {PipelineState::kConnecting,
                                PipelineState::kStandingBy,
                                PipelineState::kBackfilling,
                                PipelineState::kFollowing,
                                PipelineState::kWaitingForElasticsearch,
                                PipelineState::kWaitingForSource};
constexpr std::array kJobKinds = {JobKind::kBackfill, JobKind::kComparison, JobKind::kSweep};

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto total = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return total(usage.ru_utime) + total(usage.ru_stime);
}

// Collects families. add() adds samples to the family that counter() or gauge() has begun last.
class Families {
 public:
  explicit Families(const std::string& pipeline) : pipeline_(pipeline) {}

  void counter(const char* name, const char* help) { begin(name, help, MetricType::Counter); }
  void gauge(const char* name, const char* help) { begin(name, help, MetricType::Gauge); }

  void histogram(const char* name, const char* help) { begin(name, help, MetricType::Histogram); }

  void add(const DelayHistogram& delays) {
    ClientMetric metric;
    metric.label = {{"pipeline", pipeline_}};
    metric.histogram.sample_sum = delays.sum_seconds;
    for (std::size_t i = 0; i < delays.counts.size(); ++i) {
      metric.histogram.sample_count += static_cast<std::uint64_t>(delays.counts[i]);
      const bool is_last = i == DelayHistogram::kBounds.size();
      metric.histogram.bucket.push_back(
          {metric.histogram.sample_count,
           is_last ? std::numeric_limits<double>::infinity() : DelayHistogram::kBounds[i]});
    }
    families_.back().metric.push_back(std::move(metric));
  }

  template <class Number>
  void add(Number value, Labels labels = {}) {
    labels.insert(labels.begin(), {"pipeline", pipeline_});
    add_bare(static_cast<double>(value), std::move(labels));
  }

  void add_bare(double value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    if (families_.back().type == MetricType::Counter) {
      metric.counter.value = value;
    } else {
      metric.gauge.value = value;
    }
    families_.back().metric.push_back(std::move(metric));
  }

  const std::vector<MetricFamily>& all() const { return families_; }

 private:
  void begin(const char* name, const char* help, MetricType type) {
    MetricFamily family;
    family.name = name;
    family.help = help;
    family.type = type;
    families_.push_back(std::move(family));
  }

  std::string pipeline_;
  std::vector<MetricFamily> families_;
};

void add_state(Families& families, const ReplicationProgress& progress, SteadyTime now) {
  families.gauge("lockstep_state", "1 for the state the pipeline is in, 0 for the others");
  for (const PipelineState state : kStates) {
    families.add(progress.state == state ? 1 : 0, {{"state", std::string(to_string(state))}});
  }
  families.gauge("lockstep_led",
                 "1 while this process holds the lead, or stands by for one that reports; otherwise 0");
  families.add(
      progress.leads || (progress.state == PipelineState::kStandingBy && progress.unled.empty()) ? 1 : 0);
  families.gauge("lockstep_warnings",
                 "Warnings that lockstep status prints: documents are out of date, or may be soon");
  families.add(progress.warnings.size());
  families.gauge("lockstep_epoch", "Number of this leadership, 0 when this process has not led");
  families.add(progress.epoch.value);
  families.gauge("lockstep_lag_seconds",
                 "Age of the oldest change in the outbox that Elasticsearch has not acknowledged");
  families.add(seconds(progress.lag));
  families.gauge("lockstep_pending",
                 "1 while there are changes in the outbox that Elasticsearch has not acknowledged");
  families.add(progress.pending ? 1 : 0);
  const auto slo = [&](const char* name, const char* help, auto value) {
    families.gauge(name, help);
    if (progress.freshness) families.add(value(*progress.freshness));
  };
  slo("lockstep_slo_lag_seconds", "The objective slo.lag: how long a change may wait",
      [](const FreshnessReport& report) { return seconds(report.objective); });
  slo("lockstep_slo_met_ratio",
      "For how much of the known part of the last day the objective was met, 0 to 1",
      [](const FreshnessReport& report) { return report.share(); });
  slo("lockstep_slo_known_seconds", "How much of the last day is known of the objective",
      [](const FreshnessReport& report) { return seconds(report.known); });
  families.histogram("lockstep_commit_to_acknowledged_seconds",
                     "From the change of a row until Elasticsearch had acknowledged all that its step wrote");
  families.add(progress.acknowledged);
  families.histogram(
      "lockstep_commit_to_searchable_seconds",
      "The same until it was searchable; counts only with replication.refresh = \"after_batch\"");
  families.add(progress.searchable);
  families.gauge("lockstep_last_turn_seconds", "Time since the last turn of the replication loop");
  families.add(seconds(now - progress.turned_at));
  families.gauge("lockstep_slow_reading_seconds",
                 "How long what the leader reads from the source has taken, when that is long; otherwise 0");
  families.add(progress.slow_reading.empty() ? 0 : seconds(now - progress.slow_since));
  families.gauge("lockstep_last_progress_seconds", "Time since work last advanced or nothing was pending");
  families.add(seconds(now - progress.advanced_at));
}

void add_work(Families& families, const ReplicationProgress& progress) {
  families.counter("lockstep_outbox_rows_total", "Rows of the outbox that were acknowledged");
  families.add(progress.rows);
  families.gauge("lockstep_outbox_bytes", "Size of the outbox on disk when this process last measured it");
  families.add(progress.outbox_bytes);
  families.gauge("lockstep_outbox_max_bytes", "The outbox's limit; none without replication.max_outbox_size");
  if (progress.outbox_max_bytes > 0) families.add(progress.outbox_max_bytes);
  families.counter("lockstep_batches_total", "Batches that were read to their end");
  families.add(progress.batches);
  families.counter("lockstep_bulk_requests_total", "Bulk requests that have all their outcomes");
  families.add(progress.bulk_requests);
  families.counter("lockstep_bulk_bytes_total", "Bytes of bulk requests that have all their outcomes");
  families.add(progress.bulk_bytes);
  families.counter("lockstep_bulk_retries_total", "Bulk requests that were repeated");
  families.add(progress.bulk_retries);
  families.gauge("lockstep_bulks_in_flight", "Bulk requests in flight");
  families.add(progress.bulks_in_flight);
  families.gauge("lockstep_bulks_in_flight_limit",
                 "Bulk requests that may be in flight at once, adapted to Elasticsearch's capacity");
  families.add(progress.most_bulks_in_flight);
  families.gauge("lockstep_bulk_bytes_limit", "Bytes of a bulk request, adapted to Elasticsearch's capacity");
  families.add(progress.most_bulk_bytes);
}

void add_indices(Families& families, const ReplicationProgress& progress) {
  const auto each = [&](std::int64_t IndexProgress::*value) {
    for (const auto& [id, index] : progress.indices) families.add(index.*value, {{"index", index.alias}});
  };
  families.counter("lockstep_documents_total", "Documents written");
  each(&IndexProgress::documents);
  families.counter("lockstep_deletes_total", "Documents deleted");
  each(&IndexProgress::deletes);
  families.counter("lockstep_superseded_total", "Writes that found a newer version of their document");
  each(&IndexProgress::superseded);
  families.counter("lockstep_foreign_writes_total",
                   "Writes that found a version of their document that something else has given");
  each(&IndexProgress::foreign);
  families.counter("lockstep_refused_total", "Writes that Elasticsearch refused for good");
  each(&IndexProgress::refused);
  families.gauge("lockstep_set_aside",
                 "1 when the index is not followed: its view or a job cannot be read, or it is not ours");
  for (const auto& [id, index] : progress.indices) {
    families.add(index.set_aside ? 1 : 0, {{"index", index.alias}});
  }
  families.gauge("lockstep_unreadable_job",
                 "1 for a job that this lockstep cannot read, which stops its index");
  for (const auto& [id, index] : progress.indices) {
    for (const JobId job : index.unreadable_jobs) {
      families.add(1, {{"index", index.alias}, {"job_id", std::to_string(job.value)}});
    }
  }
  families.gauge("lockstep_reindex_waiting",
                 "1 while a reindex waits, for the reason that lockstep status prints");
  for (const auto& [alias, reason] : progress.reindexes)
    families.add(reason.empty() ? 0 : 1, {{"index", alias}});
  families.gauge("lockstep_dead_letters", "Documents that Elasticsearch refuses in their present state");
  each(&IndexProgress::dead_letters);
  families.gauge("lockstep_pending_writes", "Writes that are read from the source and have no outcome");
  each(&IndexProgress::pending);
}

void add_due(Families& families, const ReplicationProgress& progress, SteadyTime now) {
  const auto each = [&](const auto& value) {
    for (const auto& [id, index] : progress.indices) {
      families.add(index.due ? static_cast<double>(value(id, index)) : 0, {{"index", index.alias}});
    }
  };
  families.gauge("lockstep_due_documents",
                 "Documents that are due: to be rendered and written again, alongside the tail");
  each([](IndexId, const IndexProgress& index) { return index.due->documents; });
  families.gauge("lockstep_due_oldest_seconds",
                 "For how long the oldest due document has been due; 0 if none is");
  each([&](IndexId, const IndexProgress& index) {
    return seconds(now - index.due_known_at + index.due->oldest_age);
  });
  families.gauge("lockstep_due_documents_per_second",
                 "Due documents written a second; 0 while none is written");
  each([&](IndexId id, const IndexProgress&) {
    const auto rate = progress.due_rates.find(id);
    return rate == progress.due_rates.end() ? 0.0 : rate->second;
  });
}

void add_jobs(Families& families, const ReplicationProgress& progress, SteadyTime now) {
  const auto each = [&](const auto& value) {
    for (const auto& [id, index] : progress.indices) {
      for (const JobKind kind : kJobKinds) {
        double sum = 0;
        for (const JobStatus& job : index.jobs) {
          if (job.kind == kind) sum += static_cast<double>(value(job));
        }
        families.add(sum, {{"index", index.alias}, {"kind", std::string(name_of(kind))}});
      }
    }
  };
  families.gauge("lockstep_jobs", "Jobs that are not finished");
  each([](const JobStatus&) { return std::int64_t{1}; });
  families.gauge("lockstep_job_documents_done", "Documents done by the jobs that are not finished");
  each([](const JobStatus& job) { return job.done; });
  families.gauge("lockstep_oldest_job_seconds",
                 "Time since this process took up the oldest job that is not finished; 0 without one");
  for (const auto& [id, index] : progress.indices) {
    double oldest = 0;
    for (const JobStatus& job : index.jobs) oldest = std::max(oldest, seconds(now - job.taken_up_at));
    families.add(oldest, {{"index", index.alias}});
  }
  families.gauge("lockstep_job_documents",
                 "Documents of the jobs that are not finished, about, as far as known");
  each([](const JobStatus& job) { return job.total.value_or(job.done); });
  families.gauge("lockstep_job_documents_per_second",
                 "Documents a second of the jobs that are not finished; of one that stands, 0");
  each([&](const JobStatus& job) {
    const auto rate = progress.job_rates.find(job.id);
    return rate == progress.job_rates.end() ? 0.0 : rate->second;
  });
}

void add_certificates(Families& families, const CertificateExpiries& certificates) {
  families.gauge("lockstep_certificate_expires_seconds",
                 "Time until a certificate of an Elasticsearch server expires; negative: since it has");
  for (const auto& [server, expires] : certificates) {
    const std::chrono::duration<double> left = expires - std::chrono::system_clock::now();
    families.add(left.count(), {{"server", server}});
  }
}

void add_process(Families& families) {
  families.gauge("lockstep_build_info", "1, with the version as a label");
  families.add_bare(1, {{"version", LOCKSTEP_VERSION}});
  families.gauge("process_resident_memory_bytes", "Resident memory");
  families.add_bare(resident_bytes());
  families.counter("process_cpu_seconds_total", "User and system CPU time");
  families.add_bare(cpu_seconds());
}

Families all_families(const std::string& pipeline, const ReplicationProgress& progress,
                      const CertificateExpiries& certificates, SteadyTime now) {
  Families families(pipeline);
  add_state(families, progress, now);
  add_work(families, progress);
  add_indices(families, progress);
  add_due(families, progress, now);
  add_jobs(families, progress, now);
  add_certificates(families, certificates);
  add_process(families);
  return families;
}

}  // namespace

std::string metrics_text(const std::string& pipeline, const ReplicationProgress& progress,
                         const CertificateExpiries& certificates, SteadyTime now) {
  return prometheus::TextSerializer().Serialize(all_families(pipeline, progress, certificates, now).all());
}

std::vector<std::string> metric_names() {
  const Families families = all_families("", {}, {}, {});
  std::vector<std::string> names;
  for (const MetricFamily& family : families.all()) names.push_back(family.name);
  return names;
}

}  // namespace lockstep
