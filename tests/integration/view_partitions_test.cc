// A view that ranks, numbers, limits or picks rows computes a document from rows of others: `init` writes the
// tracks that lead to these, and `check` finds where a file by hand has none.
#include "replicator/source/open_source.h"
#include "replicator/source/postgres/define/design.h"
#include "tests/integration/defined_database.h"
#include "tests/integration/init_fixture.h"

namespace lockstep::support {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LeagueInit : public InitFixture {
 protected:
  LeagueInit()
      : InitFixture("league_shape.sql",
                    {
                        "update league.players set score = {m} where id = {n}",
                        "update league.players set score = {m} + 20 where id = {n} + 12",
                        "update league.players set team_id = {m} where id = {n}",
                        "update league.players set position = 'position ' || {m} where id = {n} + 20",
                        "delete from league.players where id = {n} + 24 and {m} < 4",
                        "insert into league.players values ({n} + 40, {m}, 'position 2', 'new', {m} * 3)",
                        "update league.teams set region = 'region ' || {m} where id = {n}",
                        "update league.teams set name = 'changed {m}' where id = {n}",
                        "insert into league.goals values ({n} + 120, {m}, {n})",
                        "update league.goals set player_id = {m} where id = {n}",
                        "update league.goals set minute = {m} * 9 where id = {n} * 3",
                        "delete from league.goals where id = {n} * {m}",
                    }) {}

  void expect_that_no_change_of_is_missed(const std::string& view) {
    draft(view, {"--view", view});
    expect_that_no_change_is_missed(8);
  }
};

TEST_F(LeagueInit, ARankOverAPartitionChangesAllDocumentsOfThePartition) {
  expect_that_no_change_of_is_missed("search.ranked");
}

TEST_F(LeagueInit, ARunningNumberOverAllRowsChangesAllDocuments) {
  expect_that_no_change_of_is_missed("search.running");
}

TEST_F(LeagueInit, DistinctOnTakesAnotherRowWhenTheFirstOneChanges) {
  expect_that_no_change_of_is_missed("search.first_of_position");
}

TEST_F(LeagueInit, ALimitLetsADocumentInWhenAnotherOneLeaves) {
  expect_that_no_change_of_is_missed("search.best");
}

TEST_F(LeagueInit, ARankByAJoinedTableChangesTheDocumentsOfThePartition) {
  expect_that_no_change_of_is_missed("search.by_region");
}

TEST_F(LeagueInit, ARankByACountChangesTheDocumentsOfThePartition) {
  expect_that_no_change_of_is_missed("search.scorers");
}

TEST_F(LeagueInit, RowsOfOneDocumentAreComparedWithoutMoreTracks) {
  expect_that_no_change_of_is_missed("search.teams");
}

class PartitionsOfViews : public ::testing::Test {
 protected:
  PartitionsOfViews()
      : defined_(R"sql(
create schema s;
create table s.teams (id int primary key, name text, region text);
create table s.players (id int primary key, team_id int references s.teams, name text, score int, born date);
create table s.addresses (id int primary key, player_id int references s.players, street text, since date);
)sql") {}

  /// What check has to tell of a view with these tracks, a finding a line.
  std::string findings(const std::string& select, const std::vector<TrackConfig>& tracks) {
    defined_.database().execute("drop view if exists s.v; create view s.v as " + select);
    defined_.config().indices.clear();
    defined_.add_index("s.v", tracks);
    PostgresSession session(defined_.config().source, "test");
    PostgresTransaction transaction(session, "designing");
    std::string lines;
    for (const Finding& finding :
         design_pipeline(transaction, defined_.config(), defined_.config().indices).findings) {
      lines += finding.severity == Finding::Severity::kError ? "error: " : "warning: ";
      lines += to_line(finding) + "\n";
    }
    return lines;
  }

  DefinedDatabase defined_;
};

constexpr const char* kRanked =
    "select id as _id, team_id as _team_id, rank() over (partition by team_id order by score) as place from "
    "s.players";

TEST_F(PartitionsOfViews, ARankWhoseTracksLeadToOneDocumentIsAnErrorThatNamesTheTrack) {
  EXPECT_THAT(
      findings(kRanked, {track("s.players")}),
      AllOf(HasSubstr("error: "), HasSubstr("a window function over rows of s.players"),
            HasSubstr(R"q(row = "team_id" keys = "select id from s.players where team_id = any($1)")q")));
  TrackConfig by_team = track_by_column("s.players", "_team_id");
  by_team.row = "team_id";
  EXPECT_THAT(findings(kRanked, {track("s.players"), by_team}), IsEmpty());
  EXPECT_THAT(
      findings(kRanked, {track("s.players"),
                         track_by_keys("s.players",
                                       "select q.id from s.players p join s.players q using (team_id) "
                                       "where p.id = any($1)")}),
      IsEmpty());
  by_team.row = "score";
  EXPECT_THAT(findings(kRanked, {track("s.players"), by_team}), HasSubstr("warning: "));
}

TEST_F(PartitionsOfViews, WhatSpansAllDocumentsIsAnErrorThatNamesEveryDocument) {
  for (const char* const select :
       {"select id as _id, row_number() over (order by score) as number from s.players",
        "select id as _id, name from s.players order by score desc limit 10",
        "select id as _id, name from s.players order by score desc offset 3",
        "select p.id as _id, p.name from s.players p join (select id from s.players order by score limit 3) "
        "as "
        "best on best.id = p.id",
        "with ranked as (select id, rank() over (order by score) as place from s.players) select id as _id, "
        "place from ranked",
        "select p.id as _id from s.players p where p.id in (select q.id from s.players q order by q.score "
        "limit 10)"})
    EXPECT_THAT(findings(select, {track("s.players")}),
                AllOf(HasSubstr("error: "), HasSubstr(R"q(keys = "select id from s.players")q")))
        << select;
}

TEST_F(PartitionsOfViews, APartitionByAnExpressionAsksForARowOfThatExpression) {
  const std::string select =
      "select id as _id, date_trunc('year', born)::date as _year, rank() over (partition by "
      "date_trunc('year', born)::date order by score) as place from s.players";
  EXPECT_THAT(findings(select, {track("s.players")}),
              HasSubstr("the expression that its rows have in common"));
  TrackConfig by_year = track_by_column("s.players", "_year");
  by_year.row = "date_trunc('year', born::timestamp)::date";
  EXPECT_THAT(findings(select, {track("s.players"), by_year}), Not(HasSubstr("a window function")));
}

TEST_F(PartitionsOfViews, ATableWhoseColumnsDecideNeedsATrackToTheWholePartition) {
  const std::string select =
      "select p.id as _id, p.team_id as _team_id, t.name, rank() over (partition by p.born order by t.name) "
      "as "
      "place from s.players p join s.teams t on t.id = p.team_id";
  TrackConfig by_birth = track_by_keys("s.players", "select id from s.players where born = any($1)");
  by_birth.row = "born";
  EXPECT_THAT(findings(select, {track("s.players"), by_birth, track_by_column("s.teams", "_team_id")}),
              HasSubstr("a window function over rows of s.teams"));
  const std::string by_team =
      "select p.id as _id, p.team_id as _team_id, rank() over (partition by p.team_id order by t.name, "
      "p.score) "
      "as place from s.players p join s.teams t on t.id = p.team_id";
  by_birth.row = "team_id";
  by_birth.keys = "select id from s.players where team_id = any($1)";
  EXPECT_THAT(findings(by_team, {track("s.players"), by_birth, track_by_column("s.teams", "_team_id")}),
              IsEmpty());
}

TEST_F(PartitionsOfViews, AListOfRowsWithoutAnOrderIsAWarningThatNamesTheFunction) {
  TrackConfig by_player = track("s.addresses");
  by_player.row = "player_id";
  const std::string begin = "select p.id as _id, (select ";
  const std::string from = " from s.addresses a where a.player_id = p.id) as x from s.players p";
  for (const char* const list :
       {"json_agg(a.street)", "jsonb_agg(a)", "array_agg(a.id)", "string_agg(a.street, ', ')"})
    EXPECT_THAT(findings(begin + list + from, {track("s.players"), by_player}),
                AllOf(HasSubstr("warning: "), HasSubstr("lists rows in no order: ")))
        << list;
  EXPECT_THAT(
      findings("select p.id as _id, array(select street from s.addresses a where a.player_id = p.id) as x "
               "from s.players p",
               {track("s.players"), by_player}),
      HasSubstr("array(select"));
  for (const char* const list : {"json_agg(a.street order by a.id)", "array_agg(distinct a.street)",
                                 "count(*)", "max(a.street)", "jsonb_object_agg(a.id, a.street)"})
    EXPECT_THAT(findings(begin + list + from, {track("s.players"), by_player}), IsEmpty()) << list;
  EXPECT_THAT(
      findings(begin + "json_agg(b.street) from (select * from s.addresses a where a.player_id = p.id order "
                       "by a.since) b) as x from s.players p",
               {track("s.players"), by_player}),
      IsEmpty());
}

TEST_F(PartitionsOfViews, EverydayViewsWithWindowsAndLimitsRaiseNoAlarm) {
  TrackConfig by_player = track("s.addresses");
  by_player.row = "player_id";
  for (
      const char* const select :
      {// The last address of each, in four ways.
       "select p.id as _id, a.street from s.players p left join lateral (select * from s.addresses a where "
       "a.player_id = p.id order by a.since desc limit 1) a on true",
       "select p.id as _id, a.street from s.players p left join (select distinct on (player_id) * from "
       "s.addresses order by player_id, since desc) a on a.player_id = p.id",
       "with numbered as (select *, row_number() over (partition by player_id order by since desc) as n from "
       "s.addresses) select p.id as _id, a.street from s.players p left join numbered a on a.player_id = "
       "p.id "
       "and a.n = 1",
       "select p.id as _id, (select a.street from s.addresses a where a.player_id = p.id order by a.since "
       "limit 1) as street from s.players p",
       // One row of the document and those of its partition are of one document.
       "select distinct on (p.id) p.id as _id, p.name, a.street from s.players p left join s.addresses a on "
       "a.player_id = p.id order by p.id, a.since desc",
       "select _id, name, street from (select p.id as _id, p.name, a.street, row_number() over (partition by "
       "p.id order by a.since) as n from s.players p join s.addresses a on a.player_id = p.id) as x where n "
       "= "
       "1",
       "select p.id as _id, json_agg(a.street order by a.since) filter (where a.since is not null) as "
       "streets "
       "from s.players p left join s.addresses a on a.player_id = p.id group by p.id",
       "select p.id as _id, p.name from s.players p where exists (select 1 from s.addresses a where "
       "a.player_id = p.id limit 1)"})
    EXPECT_THAT(findings(select, {track("s.players"), by_player}), IsEmpty()) << select;
}

}  // namespace
}  // namespace lockstep::support
