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
      .jobs = {{.id = JobId{1}, .kind = JobKind::kFanOut, .done = 10, .total = 30},
               {.id = JobId{2}, .kind = JobKind::kFanOut, .done = 5}},
      .unreadable_jobs = {JobId{9}}};
  const std::string text = metrics_text("shop", progress, clock.now() + std::chrono::seconds(2));
  for (const char* line : {
           "# TYPE lockstep_documents_total counter\n",
           "lockstep_documents_total{pipeline=\"shop\",index=\"po\\\"sts\"} 40\n",
           "lockstep_deletes_total{pipeline=\"shop\",index=\"po\\\"sts\"} 2\n",
           "lockstep_dead_letters{pipeline=\"shop\",index=\"po\\\"sts\"} 1\n",
           "lockstep_unreadable_job{pipeline=\"shop\",index=\"po\\\"sts\",job=\"9\"} 1\n",
           "lockstep_state{pipeline=\"shop\",state=\"backfilling\"} 1\n",
           "lockstep_state{pipeline=\"shop\",state=\"following\"} 0\n",
           "lockstep_epoch{pipeline=\"shop\"} 7\n",
           "lockstep_lag_seconds{pipeline=\"shop\"} 0.25\n",
           "lockstep_last_turn_seconds{pipeline=\"shop\"} 2\n",
           "lockstep_outbox_rows_total{pipeline=\"shop\"} 12\n",
           "lockstep_jobs{pipeline=\"shop\",index=\"po\\\"sts\",kind=\"fan_out\"} 2\n",
           "lockstep_jobs{pipeline=\"shop\",index=\"po\\\"sts\",kind=\"backfill\"} 0\n",
           "lockstep_job_documents_done{pipeline=\"shop\",index=\"po\\\"sts\",kind=\"fan_out\"} 15\n",
           "lockstep_job_documents{pipeline=\"shop\",index=\"po\\\"sts\",kind=\"fan_out\"} 35\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
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
    EXPECT_THAT(names, testing::Contains(dashboard.substr(at, end - at)));
  }
}

}  // namespace
}  // namespace lockstep
