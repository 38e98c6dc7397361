// No update that changes what a view shows is left out: each column of each tracked table is updated alone,
// under views of every shape.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "replicator/source/sqlite/define/source_definition.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kJoinedTables = R"sql(
create table a (ida integer primary key, k int, x text collate nocase, y text);
create table b (idb integer primary key, k int, x text, z text, g as (z || x));
create table c (idc integer primary key, k int, w text, x text);
create index part on b (lower(z)) where k > 0;
create view va as select * from a;
create view va_b as select ida as id from a join b using (k);
insert into a values (1, 1, 'p', 'q'), (2, 2, 'r', 's');
insert into b (idb, k, x, z) values (1, 1, 'p', 'z'), (2, 2, 'r', 't');
insert into c values (1, 1, 'w', 'p'), (2, 2, 'v', 'r');
)sql";

const std::vector<std::string> kViews = {
    "select ida as _id, z from a join b using (k)",
    "select ida as _id from a join b using (k, x)",
    "select ida as _id, z from a left join b using (K)",
    "select y as _id from a natural join b",
    "select ida as _id, (select max(z) from b natural join c) as m from a",
    "select id as _id from va_b",
    "select idc as _id, (select max(y) from a join b using (k)) as m from c",
    "select ida as _id, w from a join b using (k) join c using (k)",
    "with q as (select ida as i, k from a) select i as _id, z from q join b using (k)",
    "select idb as _id from b where exists (select 1 from a join c using (k) where c.idc = b.idb)",
    "select ida as _id from va where (ida, k, x, y) in va or ida in (select k from b)",
    "select ida as _id from a where (k, x) = (select k, x from b where idb = ida)",
    "select ida as _id, sum(1) over (partition by k order by x) as s from a",
    "select ida as _id, row_number() over w as n from a window w as (partition by k order by y)",
    "select 1 as _id, count(*) filter (where k > 1) as n from a",
    "select idb as _id, g from b where k > 0 and lower(z) = 'z'",
    "select ida as _id, k, x, y from (select * from a)",
    "select min(ida) as _id from a group by k having max(y) > ''",
    "select ida as _id from a where x = (select z from b where b.k = a.k order by b.x limit 1)",
    "select ida as _id from a where x = 'P' union select k from b except select idc from c where x > 'q'",
    "select a.ida as _id, b.x from a join b on a.k is b.k",
};

class RandomViews {
 public:
  explicit RandomViews(unsigned seed) : random_(seed) {}

  std::string next() {
    const std::string from = "a " + join("b") + (pick(2) == 0 ? " " + join("c") : "");
    const std::string select = "select " + one_of({"ida", "idb", "k", "y", "z"}) + " as _id from " + from;
    return one_of({select, "select * from (" + select + ")", "with q as (" + select + ") select * from q",
                   "select idc as _id, (select max(_id) from (" + select + ")) as m from c"});
  }

 private:
  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  std::string one_of(const std::vector<std::string>& texts) {
    return texts[static_cast<std::size_t>(pick(static_cast<int>(texts.size())))];
  }
  std::string join(const std::string& table) {
    const std::string left = one_of({"", "left "});
    if (pick(3) == 0) return "natural " + left + "join " + table;
    return left + "join " + table + " using (" + one_of({"k", "x", "k, \"x\""}) + ")";
  }

  std::mt19937 random_;
};

bool is_accepted(const std::string& view) {
  const ApplicationFolder folder;
  Application application(folder.file("app.db"));
  application.execute(std::string(kJoinedTables) + "create view docs as " + view);
  return application.attempt("select * from docs") == SQLITE_OK;
}

class ViewColumns {
 public:
  explicit ViewColumns(const std::string& view) : application_(folder_.file("app.db")) {
    application_.execute(std::string(kJoinedTables) + "create view docs as " + view);
    std::vector<TrackConfig> tracks;
    for (const char* const table : {"a", "b", "c"})
      tracks.push_back(sqlite_track(table, "", "", "select value from json_each($1)"));
    SqliteSourceDefinition(sqlite_config(folder_.file("app.db"), {sqlite_index("docs", tracks)})).apply({});
  }

  /// The updates that change the view and are not captured.
  std::vector<std::string> missed() {
    std::vector<std::string> missed;
    for (const std::string column :
         {"a.ida", "a.k", "a.x", "a.y", "b.idb", "b.k", "b.x", "b.z", "c.idc", "c.k", "c.w", "c.x"}) {
      for (const char* const value : {"2", "7", "'P'", "'z'"}) {
        const std::string name = column.substr(2);
        const std::string statement = "update or ignore " + column.substr(0, 1) + " set " + name + " = " +
                                      value + " where " + name + " is not " + value;
        application_.execute("savepoint s");
        const Application::Rows before = shown();
        const bool is_captured = application_.attempt(statement) != SQLITE_OK || is_outbox_filled();
        if (shown() != before) {
          ++changes_;
          if (!is_captured) missed.push_back(statement);
        }
        application_.execute("rollback to s; release s");
      }
    }
    return missed;
  }

  int changes() const { return changes_; }

 private:
  Application::Rows shown() {
    Application::Rows rows = application_.rows("select * from docs");
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  bool is_outbox_filled() { return application_.value("select count(*) from lockstep_outbox") != "0"; }

  const ApplicationFolder folder_;
  Application application_;
  int changes_ = 0;
};

TEST(SqliteViewColumnsTest, AnUpdateOfAnyColumnThatChangesAViewIsCaptured) {
  for (const std::string& view : kViews) {
    ViewColumns columns(view);
    EXPECT_THAT(columns.missed(), IsEmpty()) << view;
    EXPECT_GT(columns.changes(), 0) << view;
  }
}

TEST(SqliteViewColumnsTest, AnUpdateOfAnyColumnByWhichARandomViewJoinsIsCaptured) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomViews views(seed);
  int changes = 0;
  for (int checked = 0; checked < 8;) {
    const std::string view = views.next();
    if (!is_accepted(view)) continue;  // a column may be ambiguous
    ++checked;
    ViewColumns columns(view);
    ASSERT_THAT(columns.missed(), IsEmpty()) << view;
    changes += columns.changes();
  }
  EXPECT_GT(changes, 5);
}

TEST(SqliteViewColumnsTest, ATableThatGivesOnlyColumnsToJoinByIsMissedByCheck) {
  const ApplicationFolder folder;
  Application application(folder.file("app.db"));
  application.execute(std::string(kJoinedTables) +
                      "create view docs as select ida as _id from a join b using (k)");
  const auto lines = [&](const std::vector<TrackConfig>& tracks) {
    std::vector<std::string> said;
    const Config config = sqlite_config(folder.file("app.db"), {sqlite_index("docs", tracks)});
    for (const Finding& finding : SqliteSourceDefinition(config).check()) said.push_back(to_line(finding));
    return said;
  };
  EXPECT_THAT(lines({sqlite_track("a")}),
              Contains(HasSubstr("view docs reads table b, which no track covers")));
  const TrackConfig b = sqlite_track("b", "", "",
                                     "select ida from a join b using (k) where idb in "
                                     "(select value from json_each($1))");
  EXPECT_THAT(lines({sqlite_track("a"), b}), Not(Contains(HasSubstr("table b"))));
}

}  // namespace
}  // namespace lockstep
