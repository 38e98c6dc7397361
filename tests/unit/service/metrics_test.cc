#include "replicator/service/metrics.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "tests/unit/service/hand_clock.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

std::string content(const std::string& file) {
  std::ifstream in(LOCKSTEP_SOURCE_DIR "/" + file);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(MetricsTest, HowWellTheObjectiveIsMetIsToldOnlyWhereThereIsOne) {
  ReplicationProgress progress;
  EXPECT_THAT(metrics_text("shop", progress, {}, {}), testing::Not(HasSubstr("lockstep_slo_met_ratio{")));
  progress.freshness = {std::chrono::seconds(2), std::chrono::seconds(200), std::chrono::seconds(50)};
  const std::string text = metrics_text("shop", progress, {}, {});
  for (const char* line :
       {"lockstep_slo_lag_seconds{pipeline=\"shop\"} 2\n", "lockstep_slo_met_ratio{pipeline=\"shop\"} 0.75\n",
        "lockstep_slo_known_seconds{pipeline=\"shop\"} 200\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(MetricsTest, CountsByPipelineAndIndex) {
  HandClock clock;
  ReplicationProgress progress;
  progress.state = PipelineState::kBackfilling;
  progress.epoch = Epoch{7};
  progress.lag = std::chrono::milliseconds(250);
  progress.turned_at = progress.advanced_at = clock.now();
  progress.rows = 12;
  progress.indices[IndexId{3}] = {
      .alias = "po\"sts",
      .documents = 40,
      .deletes = 2,
      .dead_letters = 1,
      .pending = 6,
      .jobs =
          {{.id = JobId{1}, .kind = JobKind::kBackfill, .done = 10, .total = 30, .taken_up_at = clock.now()},
           {.id = JobId{2}, .kind = JobKind::kBackfill, .done = 5, .taken_up_at = clock.now()}},
      .due = DueList{.documents = 12'340, .oldest_age = std::chrono::milliseconds(500)},
      .due_known_at = clock.now(),
      .unreadable_jobs = {JobId{9}}};
  progress.indices[IndexId{4}] = {.alias = "users"};
  progress.due_rates = {{IndexId{3}, 8'100}};
  progress.job_rates = {{JobId{1}, 2.5}, {JobId{77}, 100}};
  progress.outbox_max_bytes = 1'048'576;
  progress.reindexes = {{"posts", "the index is blocked"}, {"users", ""}};
  progress.slow_reading = "rendering documents of posts has taken 9.0 s";
  progress.slow_since = clock.now() - std::chrono::seconds(7);
  const std::string text = metrics_text("shop", progress, {}, clock.now() + std::chrono::seconds(2));
  for (const char* line : {
           "# TYPE lockstep_documents_total counter\n",
           "lockstep_documents_total{pipeline=\"shop\",index=\"po\\\"sts\"} 40\n",
           "lockstep_deletes_total{pipeline=\"shop\",index=\"po\\\"sts\"} 2\n",
           "lockstep_dead_letters{pipeline=\"shop\",index=\"po\\\"sts\"} 1\n",
           "lockstep_unreadable_job{pipeline=\"shop\",index=\"po\\\"sts\",job_id=\"9\"} 1\n",
           "lockstep_reindex_waiting{pipeline=\"shop\",index=\"posts\"} 1\n",
           "lockstep_reindex_waiting{pipeline=\"shop\",index=\"users\"} 0\n",
           "lockstep_state{pipeline=\"shop\",state=\"backfilling\"} 1\n",
           "lockstep_state{pipeline=\"shop\",state=\"following\"} 0\n",
           "lockstep_epoch{pipeline=\"shop\"} 7\n",
           "lockstep_lag_seconds{pipeline=\"shop\"} 0.25\n",
           "lockstep_last_turn_seconds{pipeline=\"shop\"} 2\n",
           "lockstep_slow_reading_seconds{pipeline=\"shop\"} 9\n",
           "lockstep_outbox_rows_total{pipeline=\"shop\"} 12\n",
           "lockstep_outbox_max_bytes{pipeline=\"shop\"} 1048576\n",
           "lockstep_jobs{pipeline=\"shop\",index=\"po\\\"sts\",kind=\"backfill\"} 2\n",
           "lockstep_jobs{pipeline=\"shop\",index=\"po\\\"sts\",kind=\"comparison\"} 0\n",
           "lockstep_job_documents_done{pipeline=\"shop\",index=\"po\\\"sts\",kind=\"backfill\"} 15\n",
           "lockstep_job_documents_per_second{pipeline=\"shop\",index=\"po\\\"sts\",kind=\"backfill\"} 2.5\n",
           "lockstep_job_documents_per_second{pipeline=\"shop\",index=\"po\\\"sts\",kind=\"sweep\"} 0\n",
           "lockstep_due_documents{pipeline=\"shop\",index=\"po\\\"sts\"} 12340\n",
           "lockstep_due_documents{pipeline=\"shop\",index=\"users\"} 0\n",
           "lockstep_due_oldest_seconds{pipeline=\"shop\",index=\"po\\\"sts\"} 2.5\n",
           "lockstep_due_oldest_seconds{pipeline=\"shop\",index=\"users\"} 0\n",
           "lockstep_due_documents_per_second{pipeline=\"shop\",index=\"po\\\"sts\"} 8100\n",
           "lockstep_due_documents_per_second{pipeline=\"shop\",index=\"users\"} 0\n",
           "lockstep_oldest_job_seconds{pipeline=\"shop\",index=\"po\\\"sts\"} 2\n",
           "lockstep_pending_writes{pipeline=\"shop\",index=\"po\\\"sts\"} 6\n",
           "lockstep_job_documents{pipeline=\"shop\",index=\"po\\\"sts\",kind=\"backfill\"} 35\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(MetricsTest, DelaysAreHistogramsThatPrometheusCanSum) {
  ReplicationProgress progress;
  progress.acknowledged.add(std::chrono::milliseconds(7), 2);
  progress.acknowledged.add(std::chrono::milliseconds(10), 1);
  progress.acknowledged.add(std::chrono::minutes(10), 1);
  const std::string text = metrics_text("shop", progress, {}, {});
  for (const char* line : {
           "# TYPE lockstep_commit_to_acknowledged_seconds histogram\n",
           "lockstep_commit_to_acknowledged_seconds_count{pipeline=\"shop\"} 4\n",
           "lockstep_commit_to_acknowledged_seconds_bucket{pipeline=\"shop\",le=\"0.005\"} 0\n",
           "lockstep_commit_to_acknowledged_seconds_bucket{pipeline=\"shop\",le=\"0.01\"} 3\n",
           "lockstep_commit_to_acknowledged_seconds_bucket{pipeline=\"shop\",le=\"300\"} 3\n",
           "lockstep_commit_to_acknowledged_seconds_bucket{pipeline=\"shop\",le=\"+Inf\"} 4\n",
           "lockstep_commit_to_searchable_seconds_count{pipeline=\"shop\"} 0\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, HasSubstr("lockstep_commit_to_acknowledged_seconds_sum{pipeline=\"shop\"} 600.024\n"));
}

TEST(MetricsTest, ACertificateThatHasExpiredIsBelowZero) {
  const auto now = std::chrono::system_clock::now();
  const std::string text = metrics_text(
      "shop", {}, {{"es1:9200", now + std::chrono::hours(1)}, {"es2:9200", now - std::chrono::hours(1)}}, {});
  EXPECT_THAT(text,
              HasSubstr("lockstep_certificate_expires_seconds{pipeline=\"shop\",server=\"es1:9200\"} 3599"));
  EXPECT_THAT(text,
              HasSubstr("lockstep_certificate_expires_seconds{pipeline=\"shop\",server=\"es2:9200\"} -3600"));
}

// A scrape renames a metric's own label job to exported_job, and alerts by it then name the wrong thing.
TEST(MetricsTest, NoLabelIsOneThatPrometheusGivesItself) {
  ReplicationProgress progress;
  progress.indices[IndexId{3}] = {
      .alias = "posts", .jobs = {{.id = JobId{1}, .kind = JobKind::kSweep}}, .unreadable_jobs = {JobId{9}}};
  const std::string text =
      metrics_text("shop", progress, {{"es1:9200", std::chrono::system_clock::now()}}, {});
  EXPECT_THAT(text, HasSubstr("job_id=\"9\""));
  for (const std::string name : {"job", "instance"}) {
    EXPECT_THAT(text, testing::Not(HasSubstr("{" + name + "=")));
    EXPECT_THAT(text, testing::Not(HasSubstr("," + name + "=")));
  }
}

TEST(MetricsTest, TheReferenceNamesEveryMetric) {
  const std::string reference = content("docs/monitoring.md");
  for (const std::string& name : metric_names()) EXPECT_THAT(reference, HasSubstr("`" + name + "`"));
}

TEST(MetricsTest, TheDashboardAsksForMetricsThatExist) {
  const std::string dashboard = content("config/grafana-dashboard.json");
  const std::vector<std::string> names = metric_names();
  for (std::size_t at = dashboard.find("lockstep_"); at != std::string::npos;
       at = dashboard.find("lockstep_", at + 1)) {
    const std::size_t end = dashboard.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
    std::string name = dashboard.substr(at, end - at);
    if (name.ends_with("_bucket"))
      name.resize(name.size() - std::string("_bucket").size());  // of a histogram
    EXPECT_THAT(names, testing::Contains(name));
  }
}

}  // namespace
}  // namespace lockstep
