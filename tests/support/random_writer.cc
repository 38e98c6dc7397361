#include "tests/support/random_writer.h"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace lockstep::support {
namespace {

constexpr auto kLongestEnd = std::chrono::minutes(2);  // of prepared transactions, once it is to stop

constexpr const char* kTouch = "revision = nextval('app.revision')";

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

}  // namespace

// A row that gets its key by an insert or by an update of the key is touched once more in the same
// transaction: only then does it own the key, so only a revision taken after that is above every one that the
// key has had.

RandomWriter::RandomWriter(const PostgresDatabase& database, int number, std::uint64_t seed, Role role)
    : database_(database), role_(role), name_("w" + std::to_string(number)), random_(seed) {}

void RandomWriter::connect() {
  connection_.reset();
  connection_ = database_.connect();
  // A transaction that this writer has prepared may hold what its next one wants; nobody but this limit would
  // end that.
  run(std::string("set deadlock_timeout = '100ms'; set lock_timeout = ") +
      (role_ == Role::kMixed ? "'400ms'" : "'5s'"));
  if (!session_.empty()) run(session_);
  // Those that are there, whatever this writer believes to have prepared before it lost its connection.
  prepared_.clear();
  const pqxx::result names = execute(
      *connection_,
      "select gid from pg_prepared_xacts where database = current_database() and gid like '" + name_ + "-%'");
  for (const auto& row : names) prepared_.push_back(row[0].as<std::string>());
}

void RandomWriter::run_until(std::chrono::steady_clock::time_point end) {
  run_while([end] { return std::chrono::steady_clock::now() < end; });
}

void RandomWriter::run_while(const std::function<bool()>& go_on) {
  // A database that is away for good would keep it for ever.
  std::optional<std::chrono::steady_clock::time_point> gives_up;
  while (go_on() || !prepared_.empty()) {
    const auto now = std::chrono::steady_clock::now();
    if (!go_on() && !gives_up) gives_up = now + kLongestEnd;
    if (gives_up && now > *gives_up) return;
    try {
      if (connection_ == nullptr) connect();
      if (go_on()) {
        transact();
      } else {
        end_prepared();
      }
      ++committed_;
      if (pause_.count() > 0) std::this_thread::sleep_for(pause_);
    } catch (const pqxx::failure&) {
      ++failed_;
      if (rolled_back()) continue;
      connection_.reset();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

bool RandomWriter::rolled_back() {
  // A connection that libpqxx makes again by itself would lack what connect() does.
  if (connection_ == nullptr || !connection_->is_open()) return false;
  try {
    run("rollback");
    return true;
  } catch (const pqxx::failure&) {
    return false;
  }
}

void RandomWriter::run(const std::string& sql) {
  execute(*connection_, sql);
}

void RandomWriter::transact() {
  using Step = void (RandomWriter::*)();
  struct Kind {
    const char* name;
    int weight;
    Step step;
  };
  static const std::vector<Kind> mixed{{"plain", 52, &RandomWriter::plain},
                                       {"savepoints", 16, &RandomWriter::with_savepoints},
                                       {"prepared", 8, &RandomWriter::prepared},
                                       {"end prepared", 10, &RandomWriter::end_prepared},
                                       {"serializable", 9, &RandomWriter::serializable},
                                       {"copy", 2, &RandomWriter::copy_posts},
                                       {"truncate", 1, &RandomWriter::truncate_notices},
                                       {"slow", 2, &RandomWriter::slow}};
  static const std::vector<Kind> large{{"large", 1, &RandomWriter::large},
                                       {"plain", 150, &RandomWriter::plain}};
  const std::vector<Kind>& kinds = role_ == Role::kMixed ? mixed : large;
  int total = 0;
  for (const Kind& kind : kinds) total += kind.weight;
  int at = pick(1, total);
  for (const Kind& kind : kinds) {
    at -= kind.weight;
    if (at > 0) continue;
    ++kinds_[kind.name];
    (this->*kind.step)();
    return;
  }
}

void RandomWriter::plain() {
  run("begin");
  for (int i = pick(1, 4); i > 0; --i) run(statement());
  run(chance(85) ? "commit" : "rollback");
}

void RandomWriter::with_savepoints() {
  run("begin");
  run(statement());
  for (int i = pick(1, 3); i > 0; --i) {
    run("savepoint a");
    try {
      run(statement());
      run(statement());
      run(chance(50) ? "rollback to a" : "release a");
    } catch (const pqxx::failure&) {
      run("rollback to a");
    }
  }
  run(statement());
  run(chance(90) ? "commit" : "rollback");
}

void RandomWriter::prepared() {
  const std::string name = name_ + "-" + std::to_string(++next_);
  run("begin");
  run(statement());
  if (chance(50)) run(statement());
  run("prepare transaction " + quoted(name));
  prepared_.push_back(name);
  if (prepared_.size() > 2) end_prepared();
}

void RandomWriter::end_prepared() {
  if (prepared_.empty()) return plain();
  const std::string name = prepared_.front();
  prepared_.erase(prepared_.begin());
  run((chance(75) ? "commit prepared " : "rollback prepared ") + quoted(name));
}

void RandomWriter::serializable() {
  for (int tries = 3;; --tries) {
    try {
      run("begin isolation level serializable");
      run("select count(*) from app.posts where user_id = " + user());
      run(statement());
      run(statement());
      run("commit");
      return;
    } catch (const pqxx::serialization_failure&) {
      run("rollback");
      if (tries == 1) return;
    }
  }
}

void RandomWriter::slow() {
  run("begin");
  run(statement());
  run("select pg_sleep(" + std::to_string(pick(500, 3000)) + " * 0.001)");
  run(statement());
  run("commit");
}

void RandomWriter::copy_posts() {
  const int base = 1'000'000 + std::stoi(name_.substr(1)) * 1'000'000 + ++next_ * 1000;
  pqxx::work work(*connection_);
  pqxx::stream_to stream(work, "app.posts", std::vector<std::string>{"id", "user_id", "title"});
  for (int i = 0; i < 200; ++i)
    stream << std::make_tuple(base + i, 2 + i % 20, "copied\t\"" + std::to_string(i));
  stream.complete();
  work.commit();
}

void RandomWriter::truncate_notices() {
  run("begin; truncate app.notices; insert into app.notices select i, i * " + std::to_string(pick(1, 50)) +
      ", 'notice' from generate_series(1, 20) i; " + (chance(70) ? "commit" : "rollback"));
}

// Statements of many rows over the partitioned table; its ids above a million are this writer's own.
void RandomWriter::large() {
  const std::string rows = std::to_string(large_rows_);
  const std::string base = std::to_string(1'000'000 + ++next_ * large_rows_);
  const std::string mine = " where id > " + base + " and id <= " + base + " + " + rows;
  run("insert into app.events select 'bulk', i, 'tenant ' || i % 7, json_build_object('n', i) from "
      "generate_series(" +
      base + " + 1, " + base + " + " + rows + ") i");
  run("update app.events set payload = '{\"n\":  \"again\"}', " + std::string(kTouch) + mine);
  run("begin; update app.events set tenant = 'tenant ' || (id + 1) % 7, " + std::string(kTouch) + mine +
      "; savepoint a; delete from app.events" + mine + "; rollback to a; commit");
  run("delete from app.events" + mine + (chance(50) ? " and id % 3 <> 0" : ""));
  run("update app.posts set title = title || '.', " + std::string(kTouch) + " where user_id = 1");
}

std::string RandomWriter::statement() {
  switch (pick(1, 12)) {
    case 1:
    case 2:
      return change_user();
    case 3:
    case 4:
    case 5:
    case 6:
      return change_post();
    case 7:
    case 8:
      return change_comment();
    case 9:
      return change_tag();
    case 10:
    case 11:
      return change_event();
    default:
      return notice();
  }
}

std::string RandomWriter::change_user() {
  const std::string id = user();
  const std::string again = "; update app.users set " + std::string(kTouch) + " where id = ";
  switch (pick(1, 6)) {
    case 1:
      return "insert into app.users (id, name) values (" + id +
             ", 'new') on conflict (id) do update set name = users.name || '+'" + again + id;
    case 2:
      return "delete from app.users where id = " + id + " and id > 3";
    case 3: {
      const std::string to = user();
      return "update app.users set id = " + to + " where id = " + id + " and id > 3" + again + to;
    }
    case 4:
      return "update app.users set bio = repeat(md5(random()::text), " + std::to_string(pick(1, 600)) +
             "), " + kTouch + " where id = " + id;
    default:
      return "update app.users set name = " + quoted(name_ + " " + std::to_string(++next_)) + ", " + kTouch +
             " where id = " + id;
  }
}

std::string RandomWriter::change_post() {
  const std::string id = post();
  const std::string update = "update app.posts set " + std::string(kTouch) + ", ";
  const std::string where = " where id = " + id;
  const std::string again = "; update app.posts set " + std::string(kTouch) + " where id = ";
  switch (pick(1, 9)) {
    case 1:
      return "insert into app.posts (id, user_id, title) values (" + id + ", " + user() +
             ", 'new') on conflict (id) do update set title = excluded.title || posts.revision, user_id = "
             "excluded.user_id" +
             again + id;
    case 2:
      return "delete from app.posts" + where;
    case 3: {
      const std::string to = post();
      return "update app.posts set id = " + to + where + again + to;
    }
    case 4:
      return update + "user_id = null" + where;
    case 5:
      return update + "user_id = " + user() + where;
    case 6:
      return update + "published = not published" + where;
    case 7:
      return "update app.posts set views = views + 1" + where;
    case 8:
      return update + "user_id = " + user() + " where user_id = " + user() + " and id > 1200";
    default:
      return update + "title = " + quoted(name_ + " ''\\ " + std::to_string(++next_)) + where;
  }
}

std::string RandomWriter::comment() {
  // A few ids that return, so that comments go and come again.
  return "md5('comment " + std::to_string(chance(50) ? pick(1, 60) : pick(1, 6200)) + "')::uuid";
}

std::string RandomWriter::change_comment() {
  const std::string id = comment();
  const std::string where = " where id = " + id;
  const std::string update = "update app.comments set " + std::string(kTouch) + ", ";
  switch (pick(1, 6)) {
    case 1:
      return "insert into app.comments (id, post_id, author_id, body) values (" + id + ", " + post() + ", " +
             user() +
             ", 'new') on conflict (id) do update set post_id = excluded.post_id; update app.comments set " +
             kTouch + where;
    case 2:
      return "delete from app.comments" + where;
    case 3:
      return update + "post_id = " + post() + where;
    case 4:
      return update + "author_id = " + (chance(50) ? "null" : user()) + where;
    case 5:
      return update + "body = case when body like 'hidden%' then 'shown' else 'hidden' end" + where;
    default:
      return update + "body = 'line\nbreak " + std::to_string(++next_) + "'" + where;
  }
}

std::string RandomWriter::tag() {
  return quoted("tag " + std::to_string(pick(1, 66)));
}

std::string RandomWriter::change_tag() {
  const std::string name = tag();
  const std::string update = "update app.tags set " + std::string(kTouch);
  switch (pick(1, 6)) {
    case 1:
      return "insert into app.tags (name, label) values (" + name +
             ", 'new') on conflict (name) do nothing; " + update + " where name = " + name;
    case 2:
      return "delete from app.tags where name = " + name;
    case 3: {
      const std::string to = tag();
      return "update app.tags set name = " + to + " where name = " + name + "; " + update +
             " where name = " + to;
    }
    case 4:
      return update + ", label = 'label " + std::to_string(++next_) + "' where name = " + name;
    case 5:
      return "delete from app.post_tags where post_id = " + post();
    default:
      return "insert into app.post_tags values (" + post() + ", " + name + ") on conflict do nothing";
  }
}

std::string RandomWriter::event_kind() {
  static const std::vector<std::string> kinds{"'click'", "'view'", "'buy'", "'a/b'"};
  return kinds[static_cast<std::size_t>(pick(0, static_cast<int>(kinds.size()) - 1))];
}

std::string RandomWriter::change_event() {
  const std::string id = std::to_string(chance(50) ? pick(1, 30) : pick(1, 6200));
  const std::string kind = event_kind();
  const std::string tenant = quoted("tenant " + std::to_string(pick(0, 7)));
  const std::string where = " where id = " + id;
  const std::string update = "update app.events set " + std::string(kTouch) + ", ";
  switch (pick(1, 6)) {
    case 1:
      return "insert into app.events (kind, id, tenant, payload) values (" + kind + ", " + id + ", " +
             tenant +
             ", '{\"new\":\n1}') on conflict (kind, id) do update set tenant = excluded.tenant; update "
             "app.events set " +
             kTouch + where;
    case 2:
      return "delete from app.events" + where;
    case 3:
      return "update app.events set kind = " + kind + where + " and kind <> " + kind +
             "; update app.events set " + kTouch + where;
    case 4:
      return update + "tenant = " + tenant + where;
    case 5:  // straight into a partition
      return "update app.events_view set " + std::string(kTouch) + ", payload = '[1, 2]'" + where;
    default:
      return update + "payload = '{\"n\": " + std::to_string(++next_) + "}'" + where;
  }
}

std::string RandomWriter::notice() {
  const std::string id = std::to_string(pick(1, 60));
  switch (pick(1, 3)) {
    case 1:
      return "delete from app.notices where id = " + id;
    default:
      return "insert into app.notices values (" + id + ", " + post() + ", 'notice " +
             std::to_string(++next_) +
             "') on conflict (id) do update set post_id = excluded.post_id, text = excluded.text";
  }
}

}  // namespace lockstep::support
