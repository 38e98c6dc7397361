#include "tests/bench/support/blog_work.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "tests/support/eventually.h"
#include "tests/support/servers.h"

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;

constexpr const char* kSchema = R"sql(
create schema blog;
create table blog.users (id bigint primary key, name text not null);
create table blog.posts (id bigint primary key, user_id bigint not null references blog.users, title text not null,
                         body text not null, created_at timestamptz not null);
create index on blog.posts (user_id);
create view blog.documents as
  select p.id as _id, p.user_id as _user_id, p.title, p.body, p.created_at,
         json_build_object('id', u.id, 'name', u.name) as "user"
  from blog.posts p join blog.users u on u.id = p.user_id;
create function blog.words(seed bigint, n integer) returns text language sql immutable as
  $$select string_agg('word' || hashint8(seed * 64 + i) % 5000, ' ') from generate_series(1, n) i$$;
)sql";

}  // namespace

const std::string& BlogWork::mapping() {
  static const std::string text = R"json({
  "settings": {"number_of_shards": 1, "number_of_replicas": 0},
  "mappings": {"dynamic": "strict", "properties": {
    "title": {"type": "text"}, "body": {"type": "text"}, "created_at": {"type": "date"},
    "user": {"properties": {"id": {"type": "long"},
                            "name": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}}}}})json";
  return text;
}

BlogWork::BlogWork(std::int64_t posts, const std::string& elasticsearch, const std::string& postgresql)
    : posts_(posts),
      database_(postgresql.empty() ? support::postgresql_url() : postgresql),
      pipeline_(database_, elasticsearch),
      index_(pipeline_.add_index(
          "posts", "blog.documents",
          support::track("blog.posts") + support::track("blog.users", {{"column", "_user_id"}}), mapping())) {
  database_.execute(kSchema);
  const std::string users = std::to_string(std::max<std::int64_t>(2, posts / 100));
  database_.execute("insert into blog.users select i, 'user ' || i from generate_series(1, " + users + ") i");
  database_.execute("insert into blog.posts select i, case when i % 20 = 0 then 1 else 2 + i % (" + users +
                    " - 1) end, blog.words(i, 6), blog.words(-i, 40), "
                    "timestamptz '2020-01-01' + i * interval '1 minute' from generate_series(1, " +
                    std::to_string(posts) + ") i");
  database_.execute("vacuum analyze");
}

void BlogWork::begin_anew() {
  if (applied_) pipeline_.must("remove", {"--yes", "--indices"});
  pipeline_.apply();
  applied_ = true;
}

support::MeasuredRun BlogWork::catch_up() {
  return support::measured_run(pipeline_, "run", {"--until-caught-up"}, kPatienceForWork);
}

std::unique_ptr<support::Program> BlogWork::follow() {
  std::unique_ptr<support::Program> program = pipeline_.start();
  Probe(database_, index_).change(change_of_title(0));
  return program;
}

void BlogWork::require_equal() const {
  pipeline_.must("verify", {}, kPatienceForWork);
}

Change BlogWork::change_of_title(std::int64_t number) {
  const std::string post = std::to_string(posts_ - number % (posts_ - last_loaded_post()));
  const std::string title = "probe " + std::to_string(++changes_) + " of " + std::to_string(number);
  return {"update blog.posts set title = '" + title + "' where id = " + post, post, '"' + title + '"'};
}

std::vector<ReadyDocument> BlogWork::ready_documents(const std::string& condition) {
  std::vector<ReadyDocument> documents;
  for (const pqxx::row& row :
       database_.query("select v._id::text, row_to_json(d)::text from blog.documents v, "
                       "lateral (select v.title, v.body, v.created_at, v.\"user\") d where " +
                       condition + " order by v._id")) {
    documents.push_back({row[0].c_str(), row[1].c_str()});
  }
  return documents;
}

void BlogWork::render(const std::vector<ReadyDocument>& documents) const {
  constexpr std::size_t kAtOnce = 2'000;
  const std::unique_ptr<pqxx::connection> connection = database_.connect();
  pqxx::nontransaction session(*connection);
  session.exec("set enable_seqscan = off");
  for (std::size_t begin = 0; begin < documents.size(); begin += kAtOnce) {
    std::string ids;
    for (std::size_t i = begin; i < std::min(begin + kAtOnce, documents.size()); ++i)
      ids += (ids.empty() ? "" : ",") + documents[i].id;
    session.exec("select row_to_json(v)::text from blog.documents as v where _id = any('{" + ids + "}')");
  }
}

std::string single_row_updates(std::int64_t last) {
  return "\\set id random(1, " + std::to_string(last) +
         ")\nupdate blog.posts set title = 'title ' || :client_id || ' ' || clock_timestamp() where id = "
         ":id;\n";
}

void search(const support::ElasticsearchIndex& index) {
  index.server().expect("GET", "/" + index.alias() + "/_search?size=0");
}

void let_merges_end() {
  support::ElasticsearchServer server;
  const bool ended = support::wait_until(
      [&] {
        const nlohmann::json total = server.expect("GET", "/_stats/merge").at("_all").at("total");
        // Nothing is said of shards that are just being made.
        return total.contains("merges") && total.at("merges").at("current").get<int>() == 0;
      },
      10min, 100ms);
  if (!ended) throw std::runtime_error("Elasticsearch has been merging for ten minutes");
}

}  // namespace lockstep::benchmarks
