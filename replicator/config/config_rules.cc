#include "replicator/config/config_rules.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "replicator/config/mapping_file.h"
#include "replicator/config/source_url.h"
#include "replicator/config/text_checks.h"
#include "replicator/config/text_file.h"

namespace lockstep {
namespace {

class Rules {
 public:
  Rules(Config& config, const KeyLines& lines, ConfigUse use, Faults& faults)
      : config_(config), lines_(lines), use_(use), faults_(faults) {}

  void apply() {
    complete_source();
    check_what_is_needed();
    check_elasticsearch();
    for (std::size_t i = 0; i < config_.indices.size(); ++i) complete_index(i);
    check_names_are_distinct();
  }

 private:
  void fault(const std::string& path, std::string what, const std::string& remedy) {
    faults_.add(lines_.line_of(path), std::move(what), remedy);
  }

  void complete_source() {
    SourceConfig& source = config_.source;
    if (source.url.starts_with("sqlite:")) {
      source.kind = SourceConfig::Kind::kSqlite;
      const std::filesystem::path file = source.url.substr(std::string_view("sqlite:").size());
      source.database = std::filesystem::absolute(config_.file.parent_path() / file).lexically_normal();
      if (lines_.has("source.password")) {
        fault("source.password", "an SQLite database has no password", "leave it out");
      }
      if (source.render_connections != SourceConfig{}.render_connections)
        fault("source.render_connections", "a SQLite file is read on one connection", "leave it out");
      return;
    }
    if (source.url.empty()) return;
    take_password_out_of_url();
  }

  void take_password_out_of_url() {
    SourceConfig& source = config_.source;
    if (has_password_parameter(source.url)) {
      fault("source.url", "the url's parameters hold a password", "move it to password_file or password_env");
    }
    std::optional<SeparatedUrl> separated = separate_password(source.url);
    if (!separated) {
      return fault("source.url", "the url's password has a broken percent escape",
                   "write \"%25\" for a percent sign");
    }
    if (separated->password.empty()) return;
    if (lines_.has("source.password")) {
      fault("source.password", "\"password\" is given twice, the url has one too", "keep one of them");
    }
    source.url = std::move(separated->url);
    source.password = Secret(separated->password.value(), config_.file);
  }

  void check_what_is_needed() {
    const bool lock_mode = use_ == ConfigUse::kLockMode || lines_.has("locks") || lines_.has("tree");
    if (config_.indices.empty() && !lock_mode) {
      faults_.add(0, "there is no [[index]], so there is nothing to keep in step",
                  "add one with alias, mapping and view");
    }
    const bool in_source = config_.locks.backend == LocksConfig::Backend::kPostgresql;
    if (config_.source.url.empty() && !lines_.has("source.url") && (!config_.indices.empty() || in_source)) {
      const bool for_locks = in_source && config_.indices.empty();
      fault("source",
            std::string("[source] has no \"url\"") + (for_locks ? ", and the locks are kept there" : ""),
            "add url = \"postgresql://lockstep@/shop\"");
    }
    constexpr std::size_t kMaxSchemaBesideLocks = 57;
    if (in_source && config_.source.schema.size() > kMaxSchemaBesideLocks) {
      fault("source.schema", "the name of the schema has more than 57 bytes, and \"_locks\" is added to it",
            "choose a shorter one");
    }
    if (in_source && config_.source.kind == SourceConfig::Kind::kSqlite) {
      fault("locks.backend", "locks in PostgreSQL need a PostgreSQL source",
            "write backend = \"elasticsearch\"");
    }
  }

  void check_elasticsearch() {
    check_authentication();
    const bool certificate = lines_.has("elasticsearch.client_cert");
    const bool key = lines_.has("elasticsearch.client_key");
    if (certificate && !key)
      fault("elasticsearch.client_cert", "client_cert needs client_key", "add client_key");
    if (key && !certificate)
      fault("elasticsearch.client_key", "client_key needs client_cert", "add client_cert");
  }

  // `key` without the keys that it needs.
  void check_needed(const std::string& key, const std::vector<std::string>& needed) {
    if (!lines_.has("elasticsearch." + key)) return;
    for (const std::string& other : needed) {
      if (lines_.has("elasticsearch." + other)) continue;
      const bool plain = other == "username" || other == "aws_region";
      fault("elasticsearch." + key, key + " needs " + other,
            "add " + (plain ? other : other + "_file or " + other + "_env"));
    }
  }

  void check_authentication() {
    // The first key of each way represents it.
    static const std::vector<std::vector<std::string>> kWays = {
        {"api_key"},
        {"username", "password"},
        {"bearer_token"},
        {"aws_region", "aws_access_key_id", "aws_secret_access_key", "aws_session_token"}};
    std::string chosen;
    for (const std::vector<std::string>& way : kWays) {
      for (const std::string& key : way) {
        if (!lines_.has("elasticsearch." + key)) continue;
        if (!chosen.empty()) {
          return fault("elasticsearch." + key, key + " excludes " + chosen, "keep one way to authenticate");
        }
        chosen = key;
        break;
      }
    }
    check_needed("username", {"password"});
    check_needed("password", {"username"});
    check_needed("aws_region", {"aws_access_key_id", "aws_secret_access_key"});
    if (lines_.has("elasticsearch.aws_region")) return;
    for (const char* key : {"aws_access_key_id", "aws_secret_access_key", "aws_session_token"}) {
      check_needed(key, {"aws_region"});
    }
  }

  void complete_index(std::size_t number) {
    IndexConfig& index = config_.indices[number];
    const std::string path = "index." + std::to_string(number);
    read_mapping(index, path);
    check_qualified(index.view, "view", path + ".view");
    if (!index.json_columns.empty() && config_.source.kind != SourceConfig::Kind::kSqlite) {
      fault(path + ".json", "json is for SQLite; in PostgreSQL the types of the columns show which hold JSON",
            "leave it out, and cast the column in the view: (…)::jsonb");
    }
    if (index.tracks.empty()) {
      fault(path, "the index \"" + index.alias + "\" tracks no table, so no change would reach it",
            "add [[index.track]] with each table that the view reads");
    }
    for (std::size_t i = 0; i < index.tracks.size(); ++i) {
      check_track(index.tracks[i], path + ".track." + std::to_string(i));
    }
    check_tracks_are_distinct(index, path);
  }

  void read_mapping(IndexConfig& index, const std::string& path) {
    if (index.mapping.empty()) return;
    auto content = read_text_file(index.mapping);
    if (const auto* unreadable = std::get_if<TextFault>(&content)) {
      return fault(path + ".mapping", unreadable->what, unreadable->remedy);
    }
    index.mapping_json = std::get<std::string>(std::move(content));
    if (const auto wrong = mapping_fault(index.mapping.string(), index.mapping_json)) {
      fault(path + ".mapping", wrong->what, wrong->remedy);
    }
  }

  // A refused url does not show which database is meant.
  bool is_source_known() const {
    return !lines_.has("source.url") || source_url_fault(config_.source.url).what.empty();
  }

  void check_qualified(const std::string& name, const std::string& key, const std::string& path) {
    if (name.empty() || config_.source.kind != SourceConfig::Kind::kPostgresql || schema_qualified(name) ||
        !is_source_known())
      return;
    fault(path, "the " + key + " \"" + name + "\" has no schema",
          "write \"public." + name + "\" or the schema it is in");
  }

  void check_track(const TrackConfig& track, const std::string& path) {
    check_qualified(track.table, "table", path + ".table");
    if (lines_.has(path + ".column") && lines_.has(path + ".keys")) {
      fault(path + ".keys", "column excludes keys: each leads from a row to its documents",
            "keep one of them");
    }
    if (!track.ignore) return;
    for (const char* key : {"column", "row", "keys", "columns"}) {
      if (!lines_.has(path + "." + key)) continue;
      fault(path + "." + key, std::string("ignore excludes ") + key, "leave one of them out");
    }
  }

  void check_tracks_are_distinct(const IndexConfig& index, const std::string& path) {
    std::set<std::tuple<std::string, std::string, std::string, std::string>> seen;
    std::map<std::string, bool> ignored;  // by table
    for (std::size_t i = 0; i < index.tracks.size(); ++i) {
      const TrackConfig& track = index.tracks[i];
      const std::string at = path + ".track." + std::to_string(i);
      const auto [before, first] = ignored.emplace(track.table, track.ignore);
      if (!first && (before->second || track.ignore)) {
        fault(at, "\"" + track.table + "\" is both ignored and tracked", "keep one of the tracks");
      } else if (!seen.insert({track.table, track.column, track.row, track.keys}).second) {
        fault(at, "\"" + track.table + "\" is tracked twice in the same way", "keep one of the tracks");
      }
    }
  }

  void check_names_are_distinct() {
    std::set<std::string> aliases;
    for (std::size_t i = 0; i < config_.indices.size(); ++i) {
      const std::string& alias = config_.indices[i].alias;
      const std::string path = "index." + std::to_string(i) + ".alias";
      if (alias.empty()) continue;
      if (!aliases.insert(alias).second)
        fault(path, "the alias \"" + alias + "\" is given twice", "rename one of them");
      if (alias == config_.locks.index) {
        fault(path, "the alias \"" + alias + "\" is the name of the index of the locks",
              "rename one of them");
      }
    }
    for (std::size_t i = 0; i < config_.indices.size(); ++i) check_not_an_index_of(aliases, i);
  }

  // The first index of "posts" is called "posts-000001".
  void check_not_an_index_of(const std::set<std::string>& aliases, std::size_t number) {
    const std::string& alias = config_.indices[number].alias;
    const std::size_t dash = alias.rfind('-');
    if (dash == std::string::npos || dash + 1 == alias.size()) return;
    const bool digits = std::all_of(alias.begin() + static_cast<std::ptrdiff_t>(dash) + 1, alias.end(),
                                    [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!digits || !aliases.contains(alias.substr(0, dash))) return;
    fault("index." + std::to_string(number) + ".alias",
          "the alias \"" + alias + "\" is how the indices of \"" + alias.substr(0, dash) + "\" are called",
          "rename it");
  }

  Config& config_;
  const KeyLines& lines_;
  const ConfigUse use_;
  Faults& faults_;
};

}  // namespace

void complete_config(Config& config, const KeyLines& lines, ConfigUse use, Faults& faults) {
  Rules(config, lines, use, faults).apply();
}

}  // namespace lockstep
