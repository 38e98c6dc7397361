// Promises 1, 2 and 3 at once: twelve connections change a schema at random, in every kind of transaction,
// while the program follows and is killed again and again. At the end each index equals its view, and no
// document ever went backwards. LOCKSTEP_TEST_SEED repeats a run's input (not its timing);
// LOCKSTEP_TEST_LONG=1 gives two minutes of it, with statements of a million rows.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/random_indices.h"
#include "tests/support/random_seed.h"
#include "tests/support/random_writer.h"
#include "tests/support/recording_proxy.h"

namespace lockstep::support {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

RowCounters revisions(std::string_view document) {
  const auto json = nlohmann::json::parse(document);
  return json.at("revisions").get<RowCounters>();
}

// Low limits, so that some changes become jobs beside the tail, such as everything about user 1, and batches
// have several chunks.
constexpr const char* kSmallJobs = "[replication]\nfan_out_threshold = 1100\nchunk_documents = 500\n";

TEST(Randomised, IndicesEqualTheirViewsAndNoDocumentEverWentBackwards) {
  const bool long_form = std::getenv("LOCKSTEP_TEST_LONG") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t seed = random_seed();
  PostgresDatabase database;
  database.run(LOCKSTEP_SOURCE_DIR "/tests/support/random_schema.sql");
  RecordingProxy proxy(revisions);
  PipelineUnderTest pipeline(database, proxy.url());
  pipeline.set_more(kSmallJobs);
  add_random_indices(pipeline);
  pipeline.apply();

  std::vector<std::unique_ptr<RandomWriter>> writers;
  for (int i = 0; i < 12; ++i) {
    const auto role = i == 0 ? RandomWriter::Role::kLarge : RandomWriter::Role::kMixed;
    writers.push_back(
        std::make_unique<RandomWriter>(database, i, seed + static_cast<std::uint64_t>(i), role));
  }
  if (long_form) writers[0]->set_large_rows(1'000'000);

  // The backfill of the five indices runs while the writers are at work already.
  auto program = pipeline.start();
  const auto end = std::chrono::steady_clock::now() + (long_form ? seconds(120) : seconds(20));
  std::vector<std::thread> threads;
  for (auto& writer : writers) threads.emplace_back([&writer, end] { writer->run_until(end); });
  std::mt19937_64 random(seed);
  int kills = 0;
  while (std::chrono::steady_clock::now() < end) {
    const milliseconds until_kill(std::uniform_int_distribution<int>(1500, 5000)(random));
    const bool ended = wait_until(
        [&] { return !program->running() || std::chrono::steady_clock::now() >= end; }, until_kill);
    EXPECT_TRUE(program->running()) << "run has ended by itself:\n" << program->err();
    if (ended) break;
    program->kill();
    ++kills;
    program = pipeline.start();
  }
  for (std::thread& thread : threads) thread.join();
  program->kill();

  std::int64_t committed = 0;
  std::int64_t failed = 0;
  for (const auto& writer : writers) {
    committed += writer->committed();
    failed += writer->failed();
  }
  std::cout << committed << " transactions, " << failed << " that PostgreSQL ended, " << kills << " kills, "
            << proxy.history().operations() << " operations on documents, " << proxy.history().superseded()
            << " of them superseded" << std::endl;

  const auto stopped = std::chrono::steady_clock::now();
  const std::vector<std::string> early = proxy.history().violations();
  ASSERT_TRUE(early.empty()) << early.size() << " violations, the first: " << early.front();
  pipeline.must("run", {"--until-caught-up"}, long_form ? seconds(600) : seconds(120));
  std::cout << "caught up after "
            << std::chrono::ceil<seconds>(std::chrono::steady_clock::now() - stopped).count() << " s"
            << std::endl;
  EXPECT_EQ(pipeline.difference(), "");
  const std::vector<std::string> violations = proxy.history().violations();
  EXPECT_TRUE(violations.empty()) << violations.size() << " violations, the first: " << violations.front();
  EXPECT_EQ(database.number("select count(*) from lockstep.dead_letter"), 0);
  EXPECT_GT(committed, 500) << "the writers were too slow for the test to mean anything";
}

}  // namespace
}  // namespace lockstep::support
