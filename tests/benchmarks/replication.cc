// How fast changes get into Elasticsearch, beside what Elasticsearch takes at all: the same documents, ready
// made, in bulk requests of the same kind, on the same server, in turns.
//
//   LOCKSTEP_TEST_POSTGRESQL=… LOCKSTEP_TEST_ELASTICSEARCH=… benchmark_replication [rounds [posts]]
//
// The work: users, each with about a hundred posts, user 1 with a twentieth of all; a document is
// {title (6 words), body (40 words), created_at, user: {id, name}}.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "replicator/elasticsearch/bulk_request.h"
#include "replicator/elasticsearch/bulk_writer.h"
#include "replicator/elasticsearch/curl_transport.h"
#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/servers.h"

namespace lockstep::support {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBulkBytes = 1 << 20;
constexpr int kBulksInFlight = 3;
constexpr int kLatencySamples = 200;
constexpr auto kBetweenSamples = 50ms;
constexpr std::chrono::minutes kPatienceForWork{20};

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

constexpr const char* kMapping = R"json({
  "settings": {"number_of_shards": 1, "number_of_replicas": 0},
  "mappings": {"dynamic": "strict", "properties": {
    "title": {"type": "text"}, "body": {"type": "text"}, "created_at": {"type": "date"},
    "user": {"properties": {"id": {"type": "long"},
                            "name": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}}}}})json";

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// CPU that the child processes that have ended have used, in seconds.
double cpu_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The most memory that a process has had resident, in MiB.
double peak_memory(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

struct CaughtUp {
  double seconds = 0;  ///< of the whole process
  double cpu = 0;      ///< seconds
  double memory = 0;   ///< MiB
};

class Work {
 public:
  explicit Work(int posts) : posts_(posts), pipeline_(database_), index_(add_index()), ceiling_("ceiling") {
    database_.execute(kSchema);
    const int users = std::max(2, posts / 100);
    database_.execute("insert into blog.users select i, 'user ' || i from generate_series(1, " +
                      std::to_string(users) + ") i");
    database_.execute(
        "insert into blog.posts select i, case when i % 20 = 0 then 1 else 2 + i % " +
        std::to_string(users - 1) +
        " end, blog.words(i, 6), blog.words(-i, 40), timestamptz '2020-01-01' + i * interval '1 minute' "
        "from generate_series(1, " +
        std::to_string(posts) + ") i");
    database_.execute("vacuum analyze");
  }

  // What the documents weigh is all that the ceiling needs to know of the database.
  double ceiling() {
    std::vector<BulkRequest> requests(1);
    const pqxx::result rows = database_.query(
        "select _id::text, row_to_json(d)::text from blog.documents v, "
        "lateral (select v.title, v.body, v.created_at, v.\"user\") d order by v._id");
    for (const pqxx::row& row : rows) {
      if (requests.back().bytes() >= kBulkBytes) requests.emplace_back();
      requests.back().index(ceiling_.alias(), {1, row[0].c_str(), ""}, DocumentVersion(Epoch{1}, 1),
                            row[1].c_str());
    }
    nlohmann::json body = nlohmann::json::parse(kMapping);
    body["aliases"][ceiling_.alias()] = nlohmann::json::object();
    const std::string name = ceiling_.alias() + "-" + std::to_string(++ceilings_);
    ceiling_.server().expect("PUT", "/" + name, body.dump());
    ElasticsearchConfig config;
    config.urls = {elasticsearch_url()};
    BulkWriter writer({.bulks_in_flight = kBulksInFlight, .request_timeout = 60s, .backoff = {}},
                      make_transport_factory(config));
    const auto begin = Clock::now();
    std::size_t done = 0;
    for (BulkRequest& request : requests) {
      writer.submit(std::move(request));
      done += writer.take(0ms).size();
    }
    while (done < requests.size()) done += writer.take(1s).size();
    const double seconds = seconds_since(begin);
    ceiling_.server().expect("DELETE", "/" + name);
    return posts_ / seconds;
  }

  void begin_anew() {
    if (applied_) pipeline_.must("remove", {"--yes", "--indices"});
    pipeline_.apply();
    applied_ = true;
  }

  CaughtUp catch_up() {
    CaughtUp result;
    const double cpu = cpu_of_children();
    const auto begin = Clock::now();
    Program program(lockstep_program(),
                    {"run", "--until-caught-up", "-c", pipeline_.configuration().string()});
    while (program.running()) {
      // The last answer counts: before it becomes lockstep the new process is a copy of this one.
      if (const double memory = peak_memory(program.pid()); memory > 0) result.memory = memory;
      std::this_thread::sleep_for(20ms);
    }
    result.seconds = seconds_since(begin);
    if (program.wait(kPatienceForWork) != 0) throw std::runtime_error(program.err());
    result.cpu = cpu_of_children() - cpu;
    return result;
  }

  void require_equal() { pipeline_.must("verify", {}, kPatienceForWork); }

  // Single-row transactions while nobody replays them.
  int make_backlog() {
    const int changes = posts_ / 4;
    const auto connection = database_.connect();
    pqxx::nontransaction writer(*connection);
    writer.exec0("set synchronous_commit = off");
    connection->prepare("change", "update blog.posts set title = 'title ' || $2 where id = $1");
    std::mt19937 random(42);
    for (int i = 0; i < changes; ++i) {
      writer.exec_prepared0("change", static_cast<int>(random() % static_cast<unsigned>(posts_)) + 1, i);
    }
    return changes;
  }

  // Milliseconds from a commit's return until GET shows what it wrote.
  std::vector<double> latencies() {
    std::vector<double> samples;
    const std::unique_ptr<Program> program = pipeline_.start();
    const auto connection = database_.connect();
    pqxx::nontransaction writer(*connection);
    for (int i = -20; i < kLatencySamples; ++i) {
      const std::string id = std::to_string(1 + (i + 20) * 997 % posts_);
      const std::string title = "sample " + std::to_string(i);
      writer.exec_params0("update blog.posts set title = $2 where id = $1", id, title);
      const auto begin = Clock::now();
      while (index_.get(id)->json.find(title) == std::string::npos) {
        if (Clock::now() - begin > 30s)
          throw std::runtime_error("a change did not arrive\n" + program->err());
      }
      if (i >= 0) samples.push_back(seconds_since(begin) * 1e3);
      std::this_thread::sleep_until(begin + kBetweenSamples);
    }
    memory_following_ = peak_memory(program->pid());
    std::sort(samples.begin(), samples.end());
    return samples;
  }

  double memory_following() const { return memory_following_; }
  int posts() const { return posts_; }

 private:
  ElasticsearchIndex& add_index() {
    return pipeline_.add_index("posts", "blog.documents",
                               "[[index.track]]\ntable = \"blog.posts\"\n[[index.track]]\ntable = "
                               "\"blog.users\"\ncolumn = \"_user_id\"\n",
                               kMapping);
  }

  const int posts_;
  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
  ElasticsearchIndex& index_;
  ElasticsearchIndex ceiling_;
  int ceilings_ = 0;
  bool applied_ = false;
  double memory_following_ = 0;
};

void run(int rounds, int posts) {
  Work work(posts);
  std::vector<double> ceilings;
  std::vector<double> backfills;
  std::printf("round   ceiling docs/s   backfill docs/s   share   CPU s   memory MiB\n");
  for (int round = 1; round <= rounds; ++round) {
    ceilings.push_back(work.ceiling());
    work.begin_anew();
    const CaughtUp filled = work.catch_up();
    backfills.push_back(posts / filled.seconds);
    std::printf("%5d   %14.0f   %15.0f   %5.2f   %5.2f   %10.1f\n", round, ceilings.back(), backfills.back(),
                backfills.back() / ceilings.back(), filled.cpu, filled.memory);
    std::fflush(stdout);
  }
  std::printf("backfill of %d documents, medians of %d: %.0f of %.0f documents/s, %.2f of the ceiling\n",
              posts, rounds, median(backfills), median(ceilings), median(backfills) / median(ceilings));

  std::vector<double> drains;
  for (int round = 0; round < rounds; ++round) {
    const int changes = work.make_backlog();
    const CaughtUp drained = work.catch_up();
    drains.push_back(changes / drained.seconds);
    std::printf("backlog of %d single-row updates: %.0f changes/s, CPU %.2f s, memory %.1f MiB\n", changes,
                drains.back(), drained.cpu, drained.memory);
  }
  std::printf("drained, median of %d: %.0f changes/s\n", rounds, median(drains));

  const std::vector<double> latency = work.latencies();
  std::printf(
      "commit to GET at 20/s, %d samples: p50 %.1f ms, p99 %.1f ms, largest %.1f ms; memory %.1f MiB\n",
      kLatencySamples, latency[latency.size() / 2], latency[latency.size() * 99 / 100], latency.back(),
      work.memory_following());
  work.require_equal();
  std::printf("index and view are equal\n");
}

}  // namespace
}  // namespace lockstep::support

int main(int argc, char** argv) {
  try {
    lockstep::support::run(argc > 1 ? std::atoi(argv[1]) : 3, argc > 2 ? std::atoi(argv[2]) : 200'000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
