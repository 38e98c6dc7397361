// The contents of one configuration file: one pipeline, its source, its Elasticsearch and its indices. Plain
// values with their defaults. docs/configuration.md is the reference; a test compares it with the table in
// config_keys.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "replicator/log/log.h"

namespace lockstep {

/// A secret. Nothing prints it; value() is for the one place that hands it to a library.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value, std::filesystem::path file = {})
      : value_(std::move(value)), file_(std::move(file)) {}

  const std::string& value() const { return value_; }
  bool empty() const { return value_.empty(); }
  /// The file in which it stands, the configuration or one of its own; empty: the environment has it.
  const std::filesystem::path& file() const { return file_; }

 private:
  std::string value_;
  std::filesystem::path file_;
};

/// Prints "(secret)", or nothing for an empty one.
std::ostream& operator<<(std::ostream& out, const Secret& secret);

struct SourceConfig {
  enum class Kind { kPostgresql, kSqlite };
  Kind kind = Kind::kPostgresql;
  std::string url;                  ///< "postgresql://user@host/database" or "sqlite:/path"; without password
  std::filesystem::path database;   ///< the SQLite file, absolute; empty for PostgreSQL
  Secret password;                  ///< from the url, too; empty: ~/.pgpass or another way of PostgreSQL's
  std::string schema = "lockstep";  ///< the schema of outbox, checkpoint and dead letters
  std::int64_t render_connections = 2;  ///< on which PostgreSQL renders many documents at once; at least 1
};

struct ElasticsearchConfig {
  std::vector<std::string> urls = {"http://localhost:9200"};
  Secret api_key;  ///< sent as "Authorization: ApiKey …"; excludes the other ways to authenticate
  std::string username;
  Secret password;
  Secret bearer_token;     ///< sent as "Authorization: Bearer …"
  std::string aws_region;  ///< requests are signed for it (SigV4), with the keys below
  Secret aws_access_key_id;
  Secret aws_secret_access_key;
  Secret aws_session_token;  ///< of credentials that end
  std::filesystem::path ca_file;
  std::filesystem::path client_cert;
  std::filesystem::path client_key;
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds request_timeout{60'000};
  std::int64_t bulk_bytes = 1024 * 1024;  ///< a bulk request of this size is sent
  int bulks_in_flight = 3;
  enum class Compression { kNone, kGzip };
  Compression compression = Compression::kNone;  ///< of requests and replies
};

/// A table whose changes change documents of an index.
struct TrackConfig {
  std::string table;   ///< schema-qualified name as SQL writes it
  std::string column;  ///< the view's column to match with the row's values; empty: its _id
  std::string row;     ///< column or SQL expression of the changed row; empty: its primary key
  std::string keys;    ///< SQL from row values ($1, an array) to _ids; excludes `column`
  std::vector<std::string>
      columns;          ///< an update counts only if one of these changed; empty: all the view reads
  bool ignore = false;  ///< ignore this table's changes, though the view reads it
  int line = 0;         ///< in the file, for errors
};

struct IndexConfig {
  std::string alias;
  std::filesystem::path mapping;  ///< absolute; relative ones in the file are relative to it
  std::string mapping_json;       ///< the mapping file's content: {"settings": …, "mappings": …}
  std::string view;
  std::vector<std::string> json_columns;  ///< of the view, texts that hold JSON; only in SQLite
  std::vector<TrackConfig> tracks;
  int line = 0;

  /// Of a generation that keeps the fields that it has: its documents get no others of its view. None: all.
  std::optional<std::vector<std::string>> fields = {};
};

struct HttpConfig {
  std::string listen;  ///< "127.0.0.1:9464"; empty: no HTTP
};

/// The freshness that the users of the search are promised.
struct SloConfig {
  std::chrono::milliseconds lag{0};  ///< no change is to wait for longer; 0: nothing is promised
};

struct LogConfig {
  std::string level = "info";
  LogFormat format = LogFormat::kAuto;  ///< one of the first three
};

struct ReplicationConfig {
  std::chrono::milliseconds poll_interval{5};  ///< how often the source checks for changes while idle
  std::int64_t fan_out_threshold = 10'000;     ///< documents of a change that are written at once, at most
  std::int64_t chunk_documents = 2'000;        ///< documents rendered from one snapshot
  double max_refused_share = 0.5;              ///< more new dead letters among an index's documents stop it
  std::int64_t max_outbox_size = 0;            ///< bytes; beyond it nothing is captured; 0: no limit
  enum class Refresh { kInterval, kAfterBatch };
  Refresh refresh = Refresh::kInterval;  ///< when writes become searchable
};

/// Lock mode: where the locks are kept, for data that lives in Elasticsearch only.
struct LocksConfig {
  enum class Backend { kElasticsearch, kPostgresql };
  Backend backend = Backend::kElasticsearch;
  std::string index = "lockstep-locks";
  std::chrono::milliseconds lease{10'000};
};

/// Lock mode: a directory tree that lives in Elasticsearch only.
struct TreeConfig {
  enum class Locking { kTree, kGlobal, kDocument };
  std::string index = "fs";
  Locking locking = Locking::kTree;
};

struct Config {
  std::filesystem::path file;
  std::string pipeline = "lockstep";
  SourceConfig source;
  ElasticsearchConfig elasticsearch;
  ReplicationConfig replication;
  HttpConfig http;
  SloConfig slo;
  LogConfig log;
  LocksConfig locks;
  TreeConfig tree;
  std::vector<IndexConfig> indices;  ///< empty only in a file for lock mode
};

/// Reads and validates a configuration file and the files that it names. Throws UsageError with every fault
/// that can be found without a network, each on a line: "<file>:<line>: <what>; <remedy>".
Config load_config(const std::filesystem::path& file);

}  // namespace lockstep
