// A pipeline as a user sees it: a configuration file, a database, indices, and the program run on them.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/elasticsearch_index.h"
#include "tests/support/postgres_database.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::support {

/// Enough for everything that a single step of the program does in these tests.
inline constexpr std::chrono::seconds kPatience{60};

/// The mapping of an index that stores documents and searches nothing: all that comparing them needs.
extern const char* const kStoringMapping;

class PipelineUnderTest {
 public:
  /// REQUIRES: `database` outlives it. `elasticsearch` is an URL, of a recorder for instance; the server's
  /// own by default.
  explicit PipelineUnderTest(PostgresDatabase& database, const std::string& elasticsearch = {});

  /// Over another source, without a PostgresDatabase. REQUIRES: neither database() nor difference() is
  /// called.
  explicit PipelineUnderTest(const std::string& source_url, const std::string& elasticsearch = {});

  /// Adds an index with an alias of its own. `tracks` is TOML: any number of [[index.track]].
  ElasticsearchIndex& add_index(const std::string& purpose, const std::string& view,
                                const std::string& tracks, const std::string& mapping = kStoringMapping);
  /// Takes the index out of the configuration, or puts it back.
  void set_configured(const std::string& purpose, bool is_configured);
  void set_view(const std::string& purpose, const std::string& view);
  void set_tracks(const std::string& purpose, const std::string& tracks);
  void set_mapping(const std::string& purpose, const std::string& mapping);

  void set_name(const std::string& name) { name_ = name; }
  void set_role(const std::string& role) { role_ = role; }  ///< that lockstep connects as
  void set_schema(const std::string& schema) { schema_ = schema; }
  void set_elasticsearch(const std::string& url) { elasticsearch_ = url; }
  void set_source(const std::string& url) { source_ = url; }  ///< another way to the database, a pooler say
  /// TOML that goes in front of the [[index]] tables, e.g. a [replication].
  void set_more(const std::string& toml) { more_ = toml; }
  /// Further keys of [source], each a line.
  void set_more_of_source(const std::string& toml) { more_of_source_ = toml; }

  PostgresDatabase& database() { return *database_; }
  ElasticsearchIndex& index(const std::string& purpose) { return *indices_.at(purpose).index; }
  const std::string& view(const std::string& purpose) const { return indices_.at(purpose).view; }
  const std::string& schema() const { return schema_; }

  /// As the configuration file has it.
  std::string source_url() const {
    if (!source_.empty()) return source_;
    return role_.empty() ? database_->url() : database_->url_as(role_);
  }

  /// The configuration file as it is now.
  std::filesystem::path configuration() const;

  /// Runs `lockstep COMMAND -c FILE ARGUMENTS…` to its end, whatever comes out.
  Completed lockstep(const std::string& verb, const std::vector<std::string>& arguments = {},
                     std::chrono::milliseconds deadline = 2 * kPatience) const;

  /// The same, and throws std::runtime_error with its output unless it ends with 0; returns its standard
  /// output.
  std::string must(const std::string& verb, const std::vector<std::string>& arguments = {},
                   std::chrono::milliseconds deadline = 2 * kPatience) const;

  void apply() const { must("apply", {"--yes"}); }
  void catch_up() const { must("run", {"--until-caught-up"}); }

  /// `lockstep run` in the background.
  std::unique_ptr<Program> start() const;

  nlohmann::json status() const { return nlohmann::json::parse(must("status", {"--json"})); }

  /// What an index holds other than its view; "" when they are equal.
  std::string difference(const std::string& purpose);
  /// The same over all indices.
  std::string difference();
  /// Waits until difference() is ""; returns the last one.
  std::string difference_within(std::chrono::milliseconds deadline);

 private:
  struct Index {
    std::unique_ptr<ElasticsearchIndex> index;
    std::string view;
    std::string tracks;
    std::string mapping;
    bool is_configured = true;
  };

  PostgresDatabase* database_ = nullptr;
  TemporaryFolder folder_;
  std::string name_ = "test";
  std::string role_;
  std::string schema_ = "lockstep";
  std::string elasticsearch_;
  std::string source_;
  std::string more_;
  std::string more_of_source_;
  std::map<std::string, Index> indices_;
};

/// TOML for a track: "[[index.track]]" with the given keys, values quoted, e.g. track("blog.users",
/// {{"column", "_user_id"}}).
std::string track(const std::string& table,
                  const std::vector<std::pair<std::string, std::string>>& keys = {});

/// Where `lockstep run` with [http] listen = '127.0.0.1:0' answers, once it says so.
std::string http_endpoint(const Program& service);

}  // namespace lockstep::support
