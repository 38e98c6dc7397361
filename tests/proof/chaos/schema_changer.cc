#include "tests/proof/chaos/schema_changer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <thread>

namespace lockstep::chaos {
namespace {

using support::execute;

// Somebody else has the lock, wins the race, or ends the server.
constexpr std::array<std::string_view, 9> kOfOthers{"40001", "40P01", "55P03", "57014", "57P01",
                                                    "57P02", "57P03", "25006", "08006"};

bool is_of_others(const std::string& sqlstate) {
  return sqlstate.empty() || std::find(kOfOthers.begin(), kOfOthers.end(), sqlstate) != kOfOthers.end();
}

}  // namespace

void SchemaChanger::connect() {
  connection_ = database_.connect();
  execute(*connection_, "set deadlock_timeout = '100ms'; set lock_timeout = '1s'");
}

std::vector<std::string> SchemaChanger::broken() const {
  const std::lock_guard lock(mutex_);
  return broken_;
}

void SchemaChanger::run_while(const std::function<bool()>& go_on) {
  while (go_on()) {
    try {
      if (connection_ == nullptr) connect();
      chance(80) ? change_rows() : change_schema();
      ++committed_;
      std::this_thread::sleep_for(pause_);
    } catch (const pqxx::failure&) {
      ++failed_;
      connection_.reset();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

void SchemaChanger::change_rows() {
  const std::string statement = rows();
  try {
    execute(*connection_, statement);
  } catch (const pqxx::sql_error& error) {
    if (!is_of_others(error.sqlstate())) {
      const std::lock_guard lock(mutex_);
      broken_.push_back("a writer failed: " + statement + ": " + error.what());
    }
    throw;
  }
}

// A definition may fail: a partition may overlap, a column may be missing.
void SchemaChanger::change_schema() {
  try {
    execute(*connection_, definition());
  } catch (const pqxx::sql_error& error) {
    if (is_of_others(error.sqlstate())) throw;
    ++failed_;
  }
}

std::string SchemaChanger::rows() {
  const std::string id = std::to_string(pick(1, 400));
  const std::string part = std::string(1, static_cast<char>('a' + pick(0, 2)));
  const std::string touch = "update chaos.shapes set n = nextval('chaos.revision')";
  switch (pick(1, 8)) {
    case 1:
      return "insert into chaos.shapes (id, part, n) values (" + id + ", '" + (chance(50) ? "a" : "b") +
             "', nextval('chaos.revision')) on conflict (id, part) do update set n = "
             "nextval('chaos.revision')";
    case 2:
      return "delete from chaos.shapes where id = " + id + " and part = '" + part + "'";
    case 3:
      return touch + " where id % 20 = " + std::to_string(pick(0, 19));
    case 4:  // without its parent
      return "update chaos.shapes_" + part +
             " set n = nextval('chaos.revision'), mood = null where id = " + id;
    default:
      return touch + ", a = 'text ' || n where id = " + id;
  }
}

std::string SchemaChanger::definition() {
  switch (pick(1, 12)) {
    case 1:
    case 2:
      return "alter table chaos.shapes add column if not exists " + column() + " text default 'given'";
    case 3:
      return "alter table chaos.shapes drop column if exists " + column();
    case 4:
      return "alter table chaos.shapes rename column " + column() + " to " + column();
    case 5:
      return "alter table chaos.shapes alter column " + column() + " type varchar(40) using upper(" +
             column() + "::text)";
    case 6:
      return "create or replace function chaos.shown(n bigint) returns text language sql stable as $$select "
             "'n " +
             std::to_string(pick(1, 9)) + " ' || n$$";
    case 7:
      return "alter type chaos.mood rename value 'calm' to 'quiet'";
    case 8:
      return "alter type chaos.mood rename value 'quiet' to 'calm'";
    case 9:
      return "alter table chaos.shapes detach partition chaos.shapes_c";
    case 10:
      return "alter table chaos.shapes attach partition chaos.shapes_c for values in ('c')";
    case 11:
      return "drop table if exists chaos.shapes_d";
    default:
      return "create table chaos.shapes_d partition of chaos.shapes for values in ('d'); "
             "insert into chaos.shapes_d (id, part, n) "
             "select i, 'd', nextval('chaos.revision') from generate_series(1, 30) as i";
  }
}

}  // namespace lockstep::chaos
