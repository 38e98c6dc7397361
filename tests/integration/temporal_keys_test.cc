// A temporal foreign key (PostgreSQL 18) means that periods contain one another. A file by hand that compares
// them by `=` has documents without rows of the other table, equal to their view.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "replicator/source/postgres/define/preflight.h"
#include "tests/integration/defined_database.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kTemporalKeysSince = 180000;  // server_version_num

class TemporalKeysTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (support::PostgresDatabase().number("select current_setting('server_version_num')::int") <
        kTemporalKeysSince)
      GTEST_SKIP() << "this server has no temporal keys; scripts/test --all runs PostgreSQL 18, too";
    defined_.emplace(R"sql(
create extension btree_gist;
create schema s;
create table s.rooms (id int, valid daterange not null, name text, primary key (id, valid without overlaps));
create table s.bookings (
  id int primary key, room_id int not null, during daterange not null,
  foreign key (room_id, period during) references s.rooms (id, period valid)
);
create index on s.bookings (room_id);
create index on s.bookings using gist (during);
)sql");
  }

  /// What check reports of a view over both tables, an error a line.
  std::vector<std::string> errors(const std::string& columns, const std::string& join,
                                  const TrackConfig& rooms) {
    defined_->database().execute("drop view if exists s.v; create view s.v as select b.id as _id, " +
                                 columns + " from s.bookings as b " + join);
    defined_->config().indices.clear();
    defined_->add_index("s.v", {track("s.bookings"), rooms});
    PostgresSession session(defined_->config().source, "test");
    std::vector<std::string> lines;
    for (const Finding& finding : check_postgres(session, defined_->config())) {
      if (finding.severity == Finding::Severity::kError) lines.push_back(to_line(finding));
    }
    return lines;
  }

  static TrackConfig by_room(const std::string& condition) {
    TrackConfig track = track_by_keys("s.rooms", "select b.id from s.bookings as b join s.rooms as r on " +
                                                     condition + " where r.id = any($1)");
    track.row = "id";
    return track;
  }

  std::optional<DefinedDatabase> defined_;
};

constexpr const char* kRooms = "left join s.rooms as r on r.id = b.room_id and ";
constexpr const char* kAt = "b.room_id as _room_id, r.name as room";

TEST_F(TemporalKeysTest, AViewThatComparesTwoPeriodsByEqualityIsAnErrorThatNamesTheContainment) {
  TrackConfig rooms = track_by_column("s.rooms", "_room_id");
  rooms.row = "id";
  const auto names_it = AllOf(HasSubstr("s.rooms.valid with s.bookings.during by ="),
                              HasSubstr("containment, s.rooms.valid @> s.bookings.during"));
  EXPECT_THAT(errors(kAt, std::string(kRooms) + "r.valid = b.during", rooms),
              AllOf(SizeIs(1), Contains(names_it)));
  EXPECT_THAT(errors("b.room_id as _room_id, (select r.name from s.rooms as r where b.during = r.valid and "
                     "r.id = b.room_id) as room",
                     "", rooms),
              Contains(names_it));
  EXPECT_THAT(errors(kAt, std::string(kRooms) + "r.valid @> b.during", rooms), IsEmpty());
}

TEST_F(TemporalKeysTest, ATrackThatComparesTwoPeriodsByEqualityIsAnErrorThatNamesTheContainment) {
  const std::string contained = std::string(kRooms) + "r.valid @> b.during";
  EXPECT_THAT(errors(kAt, contained, by_room("r.id = b.room_id and r.valid = b.during")),
              Contains(AllOf(HasSubstr("keys: the query compares s.rooms.valid with s.bookings.during by ="),
                             HasSubstr("s.rooms.valid @> s.bookings.during"))));
  EXPECT_THAT(errors(kAt, contained, by_room("r.id = b.room_id and r.valid && b.during")), IsEmpty());
  TrackConfig by_period = track_by_column("s.rooms", "_during");
  by_period.row = "valid";
  EXPECT_THAT(errors("b.during as _during, r.name as room", contained, by_period),
              Contains(AllOf(HasSubstr("row: valid is the period of a temporal foreign key"),
                             HasSubstr("the other columns of the key"))));
}

}  // namespace
}  // namespace lockstep
