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
                        "update league.players set team_id = null where id in ({n}, {m} * 5)",
                        "insert into league.players values ({n} + 60, null, 'position {m}', 'none', {m})",
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

  // One by one: what one leaves as it was, the next may have written again.
  void expect_that_each_is_followed(const std::string& view, const std::vector<std::string>& changes) {
    draft(view, {"--view", view});
    must("up", {"--until-caught-up"});
    for (const std::string& change : changes) {
      database_.execute(change);
      must("run", {"--until-caught-up"});
      const Completed verified = lockstep("verify");
      EXPECT_EQ(verified.exit_code, 0) << change << "\n" << verified.out << text(".toml");
    }
  }
};

TEST_F(LeagueInit, ARankOverAPartitionChangesAllDocumentsOfThePartition) {
  expect_that_no_change_of_is_missed("search.ranked");
}

TEST_F(LeagueInit, ARunningNumberOverAllRowsChangesAllDocuments) {
  expect_that_no_change_of_is_missed("search.running");
}

TEST_F(LeagueInit, RowsWithoutAPartitionAreAPartitionToo) {
  expect_that_each_is_followed(
      "search.ranked",
      {"update league.players set team_id = null where id < 9",
       "update league.players set score = 100 where id = 1",
       "insert into league.players values (41, null, 'goal', 'new', 200)",
       "update league.players set team_id = 5 where id = 1", "delete from league.players where id = 41"});
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

TEST_F(LeagueInit, ALimitOverAJoinLetsDocumentsInWhenAConditionOnTheOtherTableChanges) {
  expect_that_each_is_followed("search.admitted",
                               {"update league.teams set region = 'region 1' where region = 'region 0'",
                                "update league.teams set region = 'region 2' where id = 1"});
}

TEST_F(LeagueInit, ARankByACountOfALateralChangesAllDocuments) {
  expect_that_each_is_followed(
      "search.standings", {"delete from league.goals where player_id = 1",
                           "insert into league.goals select n + 200, 4, 5 from generate_series(1, 20) as n"});
}

TEST_F(LeagueInit, AWindowOverRowsThatExistElsewhereChangesThePartition) {
  expect_that_each_is_followed("search.numbered_scorers", {"delete from league.goals where player_id = 1",
                                                           "insert into league.goals values (200, 1, 5)"});
}

TEST_F(LeagueInit, APartitionByTheNewestRowOfAnotherTableIsLeftByADocument) {
  expect_that_each_is_followed(
      "search.by_last_goal",
      {"insert into league.goals values (200, 1, 7), (201, 2, 7), (202, 3, 7)",
       "insert into league.goals values (203, 1, 8)", "delete from league.goals where id = 203"});
}

TEST_F(LeagueInit, APartitionByAColumnOfTheSameTableChangesTheDocumentsOfTheOtherRows) {
  expect_that_each_is_followed(
      "search.by_pair",
      {"delete from league.players where id = 1", "update league.players set score = 1 where id = 30",
       "update league.players set position = 'position 2' where id = 7"});
}

TEST_F(LeagueInit, TwoWindowsOfOneTableChangeTheDocumentsOfBothPartitions) {
  expect_that_no_change_of_is_missed("search.two_windows");
}

TEST_F(LeagueInit, DistinctOnARankChangesDocumentsOfOtherPartitions) {
  expect_that_each_is_followed("search.first_places",
                               {"update league.players set score = 100 where score = 0",
                                "update league.players set score = -1 where id = 40"});
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

  /// What leads from a player without a team to the others.
  static TrackConfig without_team() {
    TrackConfig track = track_by_keys("s.players", "select id from s.players where team_id is null");
    track.row = "case when team_id is null then 1 end";
    return track;
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
  EXPECT_THAT(findings(kRanked, {track("s.players"), by_team, without_team()}), IsEmpty());
  // A row that is gone, or has another team by now, does not lead to those that it has left.
  EXPECT_THAT(
      findings(kRanked, {track("s.players"), without_team(),
                         track_by_keys("s.players",
                                       "select q.id from s.players p join s.players q using (team_id) "
                                       "where p.id = any($1)")}),
      HasSubstr("warning: "));
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
  EXPECT_THAT(findings(select, {track("s.players"), by_year}), HasSubstr("born is null"));
  TrackConfig unborn = track_by_keys("s.players", "select id from s.players where born is null");
  unborn.row = "case when born is null then 1 end";
  EXPECT_THAT(findings(select, {track("s.players"), by_year, unborn}), Not(HasSubstr("a window function")));
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

TEST_F(PartitionsOfViews, APartitionOfNullsWithoutATrackIsAnErrorThatNamesOne) {
  TrackConfig by_team = track_by_keys("s.players", "select id from s.players where team_id = any($1)");
  by_team.row = "team_id";
  EXPECT_THAT(
      findings(kRanked, {track("s.players"), by_team}),
      AllOf(HasSubstr("error: "), HasSubstr("rows whose team_id is null are a partition, too"),
            HasSubstr(R"q(row = "case when team_id is null then 1 end" keys = "select id from s.players )q"
                      R"q(where team_id is null")q")));
  for (const char* const condition : {"p.team_id is not null", "p.team_id = t.id"})
    EXPECT_THAT(
        findings("select p.id as _id, p.team_id as _team_id, rank() over (partition by p.team_id order by "
                 "p.score) as place from s.players p, s.teams t where t.id = p.team_id and " +
                     std::string(condition),
                 {track("s.players"), by_team, track_by_column("s.teams", "_team_id")}),
        IsEmpty())
        << condition;
}

TEST_F(PartitionsOfViews, EachWindowOfATableNeedsItsTrack) {
  const std::string select =
      "select id as _id, rank() over (partition by team_id order by score) as a, rank() over (partition by "
      "name order by score) as b from s.players where team_id is not null and name is not null";
  TrackConfig by_team = track_by_keys("s.players", "select id from s.players where team_id = any($1)");
  by_team.row = "team_id";
  TrackConfig by_name = track_by_keys("s.players", "select id from s.players where name = any($1)");
  by_name.row = "name";
  EXPECT_THAT(findings(select, {track("s.players"), by_team}),
              AllOf(HasSubstr("error: "), HasSubstr(R"q(row = "name")q")));
  EXPECT_THAT(findings(select, {track("s.players"), by_name}),
              AllOf(HasSubstr("error: "), HasSubstr(R"q(row = "team_id")q")));
  EXPECT_THAT(findings(select, {track("s.players"), by_name, by_team}), IsEmpty());
}

TEST_F(PartitionsOfViews, ARowExpressionThatLeadsToItsOwnDocumentIsAnError) {
  TrackConfig own = track("s.players");
  own.row = "team_id || '/' || name";
  for (const char* const clause :
       {"score / sum(score) over (partition by team_id)", "rank() over (order by score)"})
    EXPECT_THAT(findings(std::string("select team_id || '/' || name as _id, ") + clause +
                             " as x from s.players where team_id is not null",
                         {own}),
                HasSubstr("error: "))
        << clause;
  // One document has all of these rows.
  EXPECT_THAT(findings("select distinct on (team_id, name) team_id || '/' || name as _id, score from "
                       "s.players order by team_id, name, score",
                       {own}),
              IsEmpty());
}

TEST_F(PartitionsOfViews, EveryTableOfTheLevelNeedsATrackToAllDocuments) {
  TrackConfig by_team = track_by_keys("s.players", "select id from s.teams where id = any($1)");
  by_team.row = "team_id";
  const TrackConfig to_all = track_by_keys("s.players", "select id from s.teams");
  const TrackConfig teams_to_all = track_by_keys("s.teams", "select id from s.teams");
  for (const char* const select :
       {"select t.id as _id, rank() over (order by x.n) from s.teams t left join (select team_id, sum(score) "
        "n "
        "from s.players group by 1) x on x.team_id = t.id",
        "select t.id as _id, rank() over (order by x.n) from s.teams t cross join lateral (select sum(score) "
        "n "
        "from s.players p where p.team_id = t.id) x",
        "select t.id as _id from s.teams t order by (select sum(score) from s.players p where p.team_id = "
        "t.id) limit 3",
        "select t.id as _id from s.teams t where exists (select from s.players p where p.team_id = t.id) "
        "order by t.id fetch first 3 rows with ties",
        "with x as (select team_id, sum(score) n from s.players group by 1), y as (select team_id, ntile(4) "
        "over (order by n) q from x) select t.id as _id, y.q from s.teams t left join y on y.team_id = t.id",
        "select t.id as _id, lag(x.n) over w, first_value(x.n) over w from s.teams t join (select team_id, "
        "max(score) n from s.players group by 1) x on x.team_id = t.id window w as (order by x.n)",
        "select t.id as _id from s.teams t where t.id in (select p.team_id from s.players p group by 1 order "
        "by "
        "sum(score) desc limit 2)",
        "select t.id as _id, count(*) over (partition by l.name) from s.teams t cross join lateral (select "
        "name from s.players p where p.team_id = t.id order by p.born desc limit 1) l",
        "select t.id as _id, (select p.name from s.players p order by p.score limit 1) as best from s.teams "
        "t"}) {
    EXPECT_THAT(findings(select, {track("s.teams"), teams_to_all, by_team}),
                AllOf(HasSubstr("error: "), HasSubstr("over rows of s.players"),
                      HasSubstr(R"q(keys = "select id from s.teams", which is every document)q")))
        << select;
    EXPECT_THAT(findings(select, {track("s.teams"), teams_to_all, to_all}), IsEmpty()) << select;
  }
}

TEST_F(PartitionsOfViews, KeysThatComeToTheWholePartitionAreEnough) {
  const std::string select =
      "select t.id as _id, rank() over (partition by t.region order by x.n) from s.teams t left join (select "
      "team_id, sum(score) n from s.players group by 1) x on x.team_id = t.id where t.region is not null";
  TrackConfig by_region = track_by_keys("s.teams", "select id from s.teams where region = any($1)");
  by_region.row = "region";
  TrackConfig by_team = track_by_keys("s.players", "select id from s.teams where id = any($1)");
  by_team.row = "team_id";
  EXPECT_THAT(findings(select, {track("s.teams"), by_region, by_team}),
              AllOf(HasSubstr("error: "), HasSubstr("over rows of s.players")));
  for (const char* const keys :
       {"select o.id from s.teams t join s.teams o on o.region = t.region where t.id = any($1)",
        "select id from s.teams where region in (select region from s.teams where id = any($1))",
        "select o.id from s.teams t, s.teams o where o.region is not distinct from t.region and t.id = "
        "any($1)"}) {
    by_team.keys = keys;
    EXPECT_THAT(findings(select, {track("s.teams"), by_region, by_team}), IsEmpty()) << keys;
  }
}

TEST_F(PartitionsOfViews, AListOfRowsWithoutAnOrderIsAWarningThatNamesTheFunction) {
  TrackConfig by_player = track("s.addresses");
  by_player.row = "player_id";
  const std::string begin = "select p.id as _id, (select ";
  const std::string from = " from s.addresses a where a.player_id = p.id) as x from s.players p";
  for (const char* const list :
       {"json_agg(a.street)", "jsonb_agg(a)", "array_agg(a.id)", "string_agg(a.street, ', ')"})
    EXPECT_THAT(findings(begin + list + from, {track("s.players"), by_player}),
                AllOf(HasSubstr("warning: "), HasSubstr("takes rows in no order: ")))
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

// `verify` reported other numbers after any update, and nothing said why.
TEST_F(PartitionsOfViews, AWindowWithoutAnOrderIsAWarningWhereItsFunctionDependsOnOne) {
  TrackConfig by_team = track("s.players");
  by_team.row = "team_id";
  const auto of = [&](const std::string& call) {
    return findings("select p.id as _id, p.team_id as _team_id, " + call + " as x from s.players p",
                    {by_team});
  };
  const std::string team = "(partition by p.team_id)";
  for (const char* const call :
       {"row_number() over ", "lag(p.id) over ", "first_value(p.id) over ", "array_agg(p.id) over "})
    EXPECT_THAT(of(call + team), HasSubstr("takes rows in no order: ")) << call;
  for (const char* const call : {"rank() over ", "count(*) over ", "max(p.id) over "})
    EXPECT_THAT(of(call + team), Not(HasSubstr("in no order"))) << call;
  EXPECT_THAT(of("row_number() over (partition by p.team_id order by p.id)"), Not(HasSubstr("in no order")));
}

TEST_F(PartitionsOfViews, ALimitWithoutAnOrderThatTakesAnyRowIsAWarningUnlessItLooksUpAUniqueKey) {
  TrackConfig by_player = track("s.addresses");
  by_player.row = "player_id";
  const std::vector<TrackConfig> tracks{track("s.players"), by_player,
                                        track_by_keys("s.teams", "select id from s.players")};
  const std::string begin = "select p.id as _id, ";
  for (const char* const rest :
       {"(select a.street from s.addresses a where a.player_id = p.id limit 1) as x from s.players p",
        "a.street from s.players p left join lateral (select * from s.addresses a where a.player_id = p.id "
        "offset 1) a on true",
        "(select a.street from s.addresses a where a.player_id = p.id and a.id > p.score limit 1) as x from "
        "s.players p",
        "a.street from s.players p left join (select distinct on (player_id) * from s.addresses order by "
        "player_id) a on a.player_id = p.id",
        "(select a.street from s.teams t, s.addresses a where t.id = p.team_id and a.player_id = p.id "
        "limit 1) as x from s.players p"})
    EXPECT_THAT(findings(begin + rest, tracks),
                AllOf(HasSubstr("warning: "), HasSubstr("s.addresses"), HasSubstr("distinct on in no order")))
        << rest;
  for (const char* const rest :
       {"(select t.name from s.teams t where t.id = p.team_id limit 1) as x from s.players p",
        "(select t.name from s.teams t join s.players q on q.team_id = t.id where q.id = p.id limit 1) as x "
        "from s.players p",
        "(select count(*) from s.addresses a where a.player_id = p.id limit 1) as x from s.players p",
        "(select a.street from s.addresses a where a.player_id = p.id limit null) as x from s.players p",
        "exists (select from s.addresses a where a.player_id = p.id limit 1) as x from s.players p"})
    EXPECT_THAT(findings(begin + rest, tracks), Not(HasSubstr("in no order"))) << rest;
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
