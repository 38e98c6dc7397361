#include "replicator/config/config_keys.h"

#include <type_traits>
#include <utility>

#include "replicator/config/text_checks.h"

namespace lockstep {
namespace {

template <class Value>
constexpr ValueType type_of() {
  if constexpr (std::is_enum_v<Value>) return ValueType::kChoice;
  if constexpr (std::is_same_v<Value, bool>) return ValueType::kBoolean;
  if constexpr (std::is_integral_v<Value>) return ValueType::kInteger;
  if constexpr (std::is_same_v<Value, double>) return ValueType::kShare;
  if constexpr (std::is_same_v<Value, std::chrono::milliseconds>) return ValueType::kDuration;
  if constexpr (std::is_same_v<Value, std::vector<std::string>>) return ValueType::kTexts;
  if constexpr (std::is_same_v<Value, std::filesystem::path>) return ValueType::kFile;
  if constexpr (std::is_same_v<Value, Secret>) return ValueType::kSecret;
  return ValueType::kText;
}

template <class Section, class Value>
Section section_of(Value Section::*);
template <class Section, class Value>
Value value_of(Value Section::*);

// Numbers and choices travel as std::int64_t, everything else as it is.
template <class Value>
using Carried =
    std::conditional_t<std::is_enum_v<Value> || (std::is_integral_v<Value> && !std::is_same_v<Value, bool>),
                       std::int64_t, Value>;

template <auto Member>
auto key(KeySpec spec) {
  using Section = decltype(section_of(Member));
  using Value = decltype(value_of(Member));
  if (spec.type == ValueType::kText) spec.type = type_of<Value>();
  return Key<Section>{
      std::move(spec),
      [](const Section& section) -> KeyValue { return static_cast<Carried<Value>>(section.*Member); },
      [](Section& section, const KeyValue& value) {
        section.*Member = static_cast<Value>(std::get<Carried<Value>>(value));
      }};
}

constexpr std::int64_t kSecond = 1'000;
constexpr std::int64_t kHour = 3'600 * kSecond;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

}  // namespace

template <>
const std::vector<Key<Config>>& keys_of() {
  static const std::vector<Key<Config>> keys = {
      key<&Config::pipeline>({.name = "pipeline",
                              .description = "The name of the pipeline, in the checkpoint, the leader lock, "
                                             "the triggers and the metrics. Unique within `source.schema`.",
                              .example = R"("shop")",
                              .check = pipeline_name_fault}),
  };
  return keys;
}

template <>
const std::vector<Key<SourceConfig>>& keys_of() {
  static const std::vector<Key<SourceConfig>> keys = {
      key<&SourceConfig::url>({.name = "url",
                               .description = "A PostgreSQL connection URI, or `sqlite:` and the path of the "
                                              "file. Required if there is an index.",
                               .example = R"("postgresql://lockstep@/shop")",
                               .check = source_url_fault}),
      key<&SourceConfig::password>(
          {.name = "password",
           .description = "The password of the url's user. Without it: `~/.pgpass`, peer authentication.",
           .example = R"("/etc/lockstep/postgresql.password")"}),
      key<&SourceConfig::schema>({.name = "schema",
                                  .description = "The schema of outbox, checkpoint and dead letters. It "
                                                 "belongs to Lockstep: `remove` drops it.",
                                  .example = R"("lockstep")",
                                  .check = schema_fault}),
      key<&SourceConfig::render_connections>(
          {.name = "render_connections",
           .description = "How many connections render many documents at once. Each uses one core of the "
                          "server. Not for SQLite.",
           .example = "2",
           .least = 1,
           .most = 64}),
  };
  return keys;
}

template <>
const std::vector<Key<ElasticsearchConfig>>& keys_of() {
  using Section = ElasticsearchConfig;
  static const std::vector<Key<Section>> keys = {
      key<&Section::urls>({.name = "urls",
                           .description = "The nodes. If one does not answer, Lockstep tries the next one.",
                           .example = R"(["https://es1:9200", "https://es2:9200"])",
                           .check = elasticsearch_url_fault}),
      key<&Section::api_key>(
          {.name = "api_key",
           .description =
               "The encoded API key, sent as `Authorization: ApiKey …`. Excludes other authentication.",
           .example = R"("/etc/lockstep/elasticsearch.key")"}),
      key<&Section::username>({.name = "username",
                               .description = "The user of basic authentication. Needs `password`.",
                               .example = R"("lockstep")"}),
      key<&Section::password>({.name = "password",
                               .description = "The password of `username`.",
                               .example = R"("/etc/lockstep/elasticsearch.password")"}),
      key<&Section::bearer_token>(
          {.name = "bearer_token",
           .description = "A token, sent as `Authorization: Bearer …`. Excludes other authentication.",
           .example = R"("/etc/lockstep/elasticsearch.token")"}),
      key<&Section::aws_region>(
          {.name = "aws_region",
           .description = "The region of an Amazon OpenSearch Service: requests are signed. Needs "
                          "`aws_access_key_id` and `aws_secret_access_key`. Excludes other authentication.",
           .example = R"("eu-central-1")",
           .check = aws_region_fault}),
      key<&Section::aws_access_key_id>({.name = "aws_access_key_id",
                                        .description = "The id of the access key.",
                                        .example = R"("/etc/lockstep/aws.id")"}),
      key<&Section::aws_secret_access_key>({.name = "aws_secret_access_key",
                                            .description = "The access key. It is never sent.",
                                            .example = R"("/etc/lockstep/aws.key")"}),
      key<&Section::aws_session_token>({.name = "aws_session_token",
                                        .description = "The session token of temporary credentials.",
                                        .example = R"("/etc/lockstep/aws.token")"}),
      key<&Section::ca_file>(
          {.name = "ca_file",
           .description =
               "The certificate authorities (PEM) that verify the nodes. Without it: the system's.",
           .example = R"("/etc/lockstep/elasticsearch-ca.pem")"}),
      key<&Section::client_cert>(
          {.name = "client_cert",
           .description = "The client's certificate (PEM), for nodes that require one. Needs `client_key`.",
           .example = R"("/etc/lockstep/client.pem")"}),
      key<&Section::client_key>({.name = "client_key",
                                 .description = "The private key (PEM) of `client_cert`.",
                                 .example = R"("/etc/lockstep/client.key")"}),
      key<&Section::connect_timeout>({.name = "connect_timeout",
                                      .description = "The longest time for a connection to a node.",
                                      .example = R"("5s")",
                                      .least = 100,
                                      .most = kHour}),
      key<&Section::request_timeout>(
          {.name = "request_timeout",
           .description = "The longest time for the reply to a request. Then Lockstep repeats it.",
           .example = R"("60s")",
           .least = kSecond,
           .most = kHour}),
      key<&Section::bulk_bytes>(
          {.name = "bulk_bytes",
           .description = "The size at which a bulk request is sent. Keep it below Elasticsearch's "
                          "`http.max_content_length` (100 MB by default).",
           .example = R"("1MiB")",
           .least = 64 * 1024,
           .most = 90 * kMiB,
           .type = ValueType::kSize}),
      key<&Section::bulks_in_flight>({.name = "bulks_in_flight",
                                      .description = "How many bulk requests may be in flight at once.",
                                      .example = "3",
                                      .least = 1,
                                      .most = 64}),
      key<&Section::compression>(
          {.name = "compression",
           .description = "Compresses requests and replies, for nodes behind a slow line.",
           .example = R"("gzip")",
           .choices = {"none", "gzip"}}),
  };
  return keys;
}

template <>
const std::vector<Key<ReplicationConfig>>& keys_of() {
  using Section = ReplicationConfig;
  static const std::vector<Key<Section>> keys = {
      key<&Section::poll_interval>(
          {.name = "poll_interval",
           .description = "How often Lockstep asks for changes: more often directly after a change, up to "
                          "five times less often in long pauses.",
           .example = R"("5ms")",
           .least = 1,
           .most = 60 * kSecond}),
      key<&Section::fan_out_threshold>(
          {.name = "fan_out_threshold",
           .description =
               "A change of more documents, or a transaction of more rows, becomes due and is written "
               "alongside the tail, so that small changes do not wait. Lower it if Elasticsearch is slow.",
           .example = "10000",
           .least = 1,
           .most = 10'000'000}),
      key<&Section::chunk_documents>(
          {.name = "chunk_documents",
           .description = "How many documents are rendered from one snapshot, at most.",
           .example = "2000",
           .least = 1,
           .most = 100'000}),
      key<&Section::max_refused_share>(
          {.name = "max_refused_share",
           .description = "The share of an index's documents that may become dead letters, of at least 1,000 "
                          "documents. Above it the service ends with an error. 1: it never does.",
           .example = "0.5"}),
      key<&Section::max_outbox_size>(
          {.name = "max_outbox_size",
           .description = "If more than this is pending, or twice as much on disk, the triggers capture no "
                          "more changes, and the next leader compares every index with its view. Takes "
                          "effect with `lockstep apply`. 0B: no limit.",
           .example = R"("20GiB")",
           .most = std::int64_t{1} << 50,
           .type = ValueType::kSize}),
      key<&Section::refresh>(
          {.name = "refresh",
           .description = "When searches see a write: at the index's own `refresh_interval`, or as soon as "
                          "its batch is applied, with a refresh for each batch.",
           .example = R"("after_batch")",
           .choices = {"interval", "after_batch"}}),
  };
  return keys;
}

template <>
const std::vector<Key<HttpConfig>>& keys_of() {
  static const std::vector<Key<HttpConfig>> keys = {
      key<&HttpConfig::listen>(
          {.name = "listen",
           .description = "Host and port of `/metrics`, `/healthz`, `/readyz`, `/wait` and the status page. "
                          "Port 0: a free port. Each process needs its own: if the port is taken, `run` ends "
                          "with exit code 2. Without it: no HTTP.",
           .example = R"("127.0.0.1:9464")",
           .check = listen_fault}),
  };
  return keys;
}

template <>
const std::vector<Key<SloConfig>>& keys_of() {
  static const std::vector<Key<SloConfig>> keys = {
      key<&SloConfig::lag>(
          {.name = "lag",
           .description = "The longest time that a committed change may wait. `status`, metrics and the "
                          "status page show for how much of the last day this was met.",
           .example = R"("2s")",
           .least = 10,
           .most = 24 * kHour}),
  };
  return keys;
}

template <>
const std::vector<Key<LogConfig>>& keys_of() {
  static const std::vector<Key<LogConfig>> keys = {
      key<&LogConfig::level>({.name = "level",
                              .description = "The lowest level that is logged.",
                              .example = R"("info")",
                              .choices = {"trace", "debug", "info", "warn", "error"}}),
      key<&LogConfig::format>(
          {.name = "format",
           .description = "The log of `run` and `up`: text, or JSON with one object a line. `auto`: journal "
                          "fields under systemd, text on a terminal, else JSON.",
           .example = R"("json")",
           .choices = {"auto", "text", "json"}}),
  };
  return keys;
}

template <>
const std::vector<Key<LocksConfig>>& keys_of() {
  static const std::vector<Key<LocksConfig>> keys = {
      key<&LocksConfig::backend>(
          {.name = "backend",
           .description = "Where the locks are kept: in Elasticsearch, or in a table of the source.",
           .example = R"("elasticsearch")",
           .choices = {"elasticsearch", "postgresql"}}),
      key<&LocksConfig::index>({.name = "index",
                                .description = "The index of the lock documents.",
                                .example = R"("lockstep-locks")",
                                .check = index_name_fault}),
      key<&LocksConfig::lease>(
          {.name = "lease",
           .description = "How long a lock outlives its holder's death. A living holder renews it in time.",
           .example = R"("10s")",
           .least = kSecond,
           .most = kHour}),
  };
  return keys;
}

template <>
const std::vector<Key<TreeConfig>>& keys_of() {
  static const std::vector<Key<TreeConfig>> keys = {
      key<&TreeConfig::index>(
          {.name = "index",
           .description =
               "The index of the directory tree: documents with `name` and `path`, their directory.",
           .example = R"("fs")",
           .check = index_name_fault}),
      key<&TreeConfig::locking>(
          {.name = "locking",
           .description = "What a change of the tree locks: its directories, everything, or each document.",
           .example = R"("tree")",
           .choices = {"tree", "global", "document"}}),
  };
  return keys;
}

template <>
const std::vector<Key<IndexConfig>>& keys_of() {
  static const std::vector<Key<IndexConfig>> keys = {
      key<&IndexConfig::alias>(
          {.name = "alias",
           .description =
               "The name for searches. The real indices are `ALIAS-000001`, `ALIAS-000002` and so on.",
           .example = R"("blogposts")",
           .presence = Presence::kRequired,
           .check = alias_fault}),
      key<&IndexConfig::mapping>(
          {.name = "mapping",
           .description = "A JSON file with the `settings` and `mappings` of the index.",
           .example = R"("blogposts.json")",
           .presence = Presence::kRequired}),
      key<&IndexConfig::view>(
          {.name = "view",
           .description = "The database view, with its schema (SQLite: without): one row for each document.",
           .example = R"("search.blogposts")",
           .presence = Presence::kRequired}),
      key<&IndexConfig::json_columns>(
          {.name = "json",
           .description = "Columns of the view that hold JSON. For SQLite, which has no type for it.",
           .example = R"(["user"])"}),
  };
  return keys;
}

template <>
const std::vector<Key<TrackConfig>>& keys_of() {
  static const std::vector<Key<TrackConfig>> keys = {
      key<&TrackConfig::table>(
          {.name = "table",
           .description = "A table that the view reads, with its schema (SQLite: without).",
           .example = R"("blog.users")",
           .presence = Presence::kRequired}),
      key<&TrackConfig::column>(
          {.name = "column",
           .description = "The view's column with the changed row's value: every document with that value is "
                          "rendered. Without it: the view's `_id`. Excludes `keys`.",
           .example = R"("_user_id")"}),
      key<&TrackConfig::row>(
          {.name = "row",
           .description = "The value of the changed row, old and new: a column or an SQL expression, under "
                          "the database's settings (`DateStyle`). Without it: the primary key.",
           .example = R"("blogpost_id")"}),
      key<&TrackConfig::keys>(
          {.name = "keys",
           .description =
               "An SQL query from the changed rows' values (`$1`, an array; SQLite: a JSON array) to `_id`s. "
               "A key of several columns is a JSON array, and `$1` a `jsonb[]`. It runs after the change: a "
               "deleted row is no longer in its own table. Excludes `column`.",
           .example = R"sql("select blogpost_id from blog.blogpost_tags where tag_id = any($1)")sql"}),
      key<&TrackConfig::columns>({.name = "columns",
                                  .description = "An update counts only if it changes one of these columns. "
                                                 "Without it: the columns that the view reads.",
                                  .example = R"(["name"])"}),
      key<&TrackConfig::ignore>({.name = "ignore",
                                 .description = "Ignores the changes of this table, though the view reads "
                                                "it. Excludes every other key but `table`.",
                                 .example = "true"}),
  };
  return keys;
}

}  // namespace lockstep
