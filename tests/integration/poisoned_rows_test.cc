// One row that nobody can write, whatever is in it: it is a dead letter, and all others go on.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"

namespace lockstep::support {
namespace {

class PoisonedRows : public testing::Test {
 protected:
  PoisonedRows() : pipeline_(database_) {
    database_.execute(
        "create table rows (id text, place text, n json); "
        "create view rows_view as select id as _id, place as _routing, n from rows; "
        "insert into rows values ('plain', 'a', '1')");
    pipeline_.add_index("rows", "public.rows_view", track("public.rows", {{"row", "id"}}),
                        R"({"settings": {"number_of_shards": 2, "number_of_replicas": 0},
                            "mappings": {"properties": {"n": {"type": "integer"}}}})");
  }

  void TearDown() override {
    if (HasFailure() && program_ != nullptr) std::cout << program_->err();
  }

  void follow() {
    pipeline_.apply();
    program_ = pipeline_.start();
    ASSERT_TRUE(the_plain_row_follows());
  }
  bool the_plain_row_follows() {
    const std::string n = std::to_string(++changes_);
    database_.execute("update rows set n = '" + n + "' where id = 'plain'");
    return wait_until(
        [&] {
          const auto found = pipeline_.index("rows").get("plain", "a");
          return found && found->json.find(n) != std::string::npos;
        },
        kPatience);
  }
  bool becomes_dead_letter(const std::string& type, int count = 1) {
    return wait_until(
        [&] {
          return database_.number("select count(*) from lockstep.dead_letter where error_type = '" + type +
                                  "'") == count;
        },
        kPatience);
  }
  bool leaves_no_dead_letter() {
    return wait_until([&] { return database_.number("select count(*) from lockstep.dead_letter") == 0; },
                      kPatience);
  }

  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
  std::unique_ptr<Program> program_;
  int changes_ = 0;
};

TEST_F(PoisonedRows, HalfOfASurrogatePairInARefusedValueIsADeadLetter) {
  follow();
  database_.execute("insert into rows values ('half', 'a', '\"\\ud800 x\"')");
  EXPECT_TRUE(becomes_dead_letter("mapper_parsing_exception"));
  EXPECT_TRUE(the_plain_row_follows());
}

TEST_F(PoisonedRows, AnIdOrARoutingOfKilobytesIsADeadLetterAndGoesWithItsRow) {
  follow();
  // Random, so that no compression makes a key of it that fits.
  database_.execute(
      "create function noise() returns text language sql as "
      "$$select string_agg(md5(random()::text), '') from generate_series(1, 120)$$; "
      "insert into rows values (noise(), 'a', '1'), (noise(), 'a', '2'), ('far', noise(), '3')");
  EXPECT_TRUE(becomes_dead_letter("invalid_document_id", 2));
  EXPECT_TRUE(becomes_dead_letter("invalid_routing"));
  EXPECT_TRUE(the_plain_row_follows());
  EXPECT_TRUE(program_->running());
  program_->kill();
  program_ = pipeline_.start();
  EXPECT_TRUE(the_plain_row_follows());
  database_.execute("delete from rows where id <> 'plain'");
  EXPECT_TRUE(leaves_no_dead_letter());
  EXPECT_EQ(pipeline_.difference_within(kPatience), "");
}

TEST_F(PoisonedRows, TwoRowsWithOneIdAreADeadLetterHoweverLargeTheyAre) {
  pipeline_.set_more("bulk_bytes = '64KiB'\n");
  database_.execute(
      "create or replace view rows_view as select id as _id, place as _routing, n from rows; "
      "alter table rows add column more text; "
      "create or replace view rows_view as select id as _id, place as _routing, n, more from rows");
  follow();
  database_.execute(
      "insert into rows values ('twice', 'a', '1'), ('twice', 'a', '2'); "
      "insert into rows select 'large', 'b', to_json(i), repeat('x', 100000) from generate_series(1, 2) i");
  EXPECT_TRUE(becomes_dead_letter("ambiguous_document_id", 2));
  EXPECT_TRUE(the_plain_row_follows());
  EXPECT_TRUE(program_->running());
  database_.execute("delete from rows where n::text = '2' and id <> 'plain'");
  EXPECT_TRUE(leaves_no_dead_letter());
  EXPECT_EQ(pipeline_.difference_within(kPatience), "");
}

}  // namespace
}  // namespace lockstep::support
