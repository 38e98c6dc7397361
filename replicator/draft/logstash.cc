#include "replicator/draft/logstash.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "replicator/draft/logstash_file.h"
#include "replicator/draft/select_statement.h"
#include "replicator/error.h"

namespace lockstep {
namespace {

/// Settings that Lockstep does not need, because it does not poll and reads by itself.
const std::set<std::string> kNotNeeded = {
    "jdbc_driver_library",
    "jdbc_driver_class",
    "jdbc_paging_enabled",
    "jdbc_paging_mode",
    "jdbc_page_size",
    "jdbc_fetch_size",
    "jdbc_validate_connection",
    "jdbc_validation_timeout",
    "jdbc_pool_timeout",
    "connection_retry_attempts",
    "connection_retry_attempts_wait_time",
    "schedule",
    "period",
    "use_column_value",
    "tracking_column",
    "tracking_column_type",
    "last_run_metadata_path",
    "last_run_metadata",
    "record_last_run",
    "clean_run",
    "sql_log_level",
    "id",
    "manage_template",
    "template_overwrite",
    "ecs_compatibility",
    "retry_on_conflict",
    "version",
    "version_type",
    "sniffing",
    "ilm_enabled",
    "data_stream",
    "statement",
    "statement_filepath",
    "jdbc_connection_string",
    "jdbc_user",
    "hosts",
    "index",
    "document_id",
    "routing",
    "document_type",
};

/// Replacements of others.
const std::map<std::string, std::string> kInstead = {
    {"jdbc_password", "export PGPASSWORD, or write password_file = … into [source]"},
    {"jdbc_password_filepath", "write password_file = … into [source]"},
    {"jdbc_default_timezone", "let the view give the time zone: … at time zone '…'"},
    {"plugin_timezone", "let the view give the time zone: … at time zone '…'"},
    {"lowercase_column_names", "let the view call the columns as the documents should"},
    {"parameters", "write the values into the view"},
    {"user", "write username = … into [elasticsearch]"},
    {"password", "write password_file = … into [elasticsearch]"},
    {"api_key", "write api_key_file = … into [elasticsearch]"},
    {"cacert", "write ca_file = … into [elasticsearch]"},
    {"ssl_certificate_authorities", "write ca_file = … into [elasticsearch]"},
    {"template", "put its settings and mappings into the mapping file"},
    {"template_name", "put its settings and mappings into the mapping file"},
    {"pipeline", "write index.default_pipeline into the settings of the mapping file"},
    {"add_field", "add the column to the view"},
    {"action", "nothing: a row that the view no longer has deletes its document"},
    {"doc_as_upsert", "nothing: a document is written as a whole"},
    {"upsert", "nothing: a document is written as a whole"},
};

std::string lowered(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string place_at(std::string_view name, int line) {
  return std::string(name) + ":" + std::to_string(line);
}

/// "%{id}" → "id". None: it has another form.
std::optional<std::string> field_in(const std::string& pattern) {
  if (!pattern.starts_with("%{") || !pattern.ends_with("}")) return std::nullopt;
  std::string field = pattern.substr(2, pattern.size() - 3);
  if (field.starts_with("[") && field.ends_with("]")) field = field.substr(1, field.size() - 2);
  if (field.empty() || field.find_first_of("%{}[]+") != std::string::npos) return std::nullopt;
  return field;
}

class Translator {
 public:
  Translator(std::string_view name, const std::function<std::string(const std::string&)>& read)
      : name_(name), read_(read) {}

  LogstashIndex translate(const std::vector<LogstashPlugin>& plugins) {
    const LogstashPlugin& input = sole(plugins, "input", "jdbc");
    const LogstashPlugin& output = sole(plugins, "output", "elasticsearch");
    take_source(input);
    take_target(output);
    take_statement(input, output);
    for (const LogstashPlugin& plugin : plugins) leave_plugin(plugin);
    for (const LogstashPlugin* const plugin : {&input, &output}) leave_settings(*plugin);
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(int line, const std::string& what) const {
    throw UsageError(place_at(name_, line) + ": " + what);
  }

  void leave(int line, const std::string& what, const std::string& instead) {
    result_.untranslated.push_back({Finding::Severity::kWarning, place_at(name_, line), what, instead});
  }

  const LogstashPlugin& sole(const std::vector<LogstashPlugin>& plugins, const std::string& section,
                             const std::string& name) const {
    const LogstashPlugin* found = nullptr;
    for (const LogstashPlugin& plugin : plugins) {
      if (plugin.section != section || plugin.name != name) continue;
      if (found != nullptr)
        fail(plugin.line, "a second " + section + " " + name + "; put each into a file of its own");
      found = &plugin;
    }
    if (found == nullptr) throw UsageError(name_ + ": it has no " + section + " " + name);
    return *found;
  }

  static const LogstashSetting* setting(const LogstashPlugin& plugin, const std::string& name) {
    const auto found = std::find_if(plugin.settings.begin(), plugin.settings.end(),
                                    [&](const LogstashSetting& each) { return each.name == name; });
    return found == plugin.settings.end() ? nullptr : &*found;
  }

  void take_source(const LogstashPlugin& input) {
    const LogstashSetting* const connection = setting(input, "jdbc_connection_string");
    if (connection == nullptr) return;
    const std::string kPostgres = "jdbc:postgresql://";
    const std::string kSqlite = "jdbc:sqlite:";
    std::string url = connection->value;
    if (url.starts_with(kSqlite)) {
      result_.source_url = "sqlite:" + url.substr(kSqlite.size());
      return;
    }
    if (!url.starts_with(kPostgres)) {
      return leave(connection->line,
                   "a database that is neither PostgreSQL nor SQLite, or is named in another way",
                   "give --source");
    }
    url = url.substr(kPostgres.size());
    if (const std::size_t options = url.find('?'); options != std::string::npos) {
      leave(connection->line, "the options of the connection", "add those of libpq to source.url");
      url.erase(options);
    }
    const LogstashSetting* const user = setting(input, "jdbc_user");
    result_.source_url =
        "postgresql://" + (user == nullptr || user->value.empty() ? "" : user->value + "@") + url;
  }

  void take_target(const LogstashPlugin& output) {
    if (const LogstashSetting* const hosts = setting(output, "hosts")) {
      std::string first = hosts->values.empty() ? hosts->value : hosts->values.front();
      if (!first.empty() && first.find("://") == std::string::npos) first = "http://" + first;
      result_.elasticsearch_url = first;
      if (hosts->values.size() > 1) leave(hosts->line, "further hosts", "add them to elasticsearch.urls");
    }
    const LogstashSetting* const index = setting(output, "index");
    if (index == nullptr) return leave(output.line, "no index is named", "give --alias");
    if (index->value.find("%{") != std::string::npos)
      return leave(index->line, "several indices, " + index->value + ": a document lives in one",
                   "give --alias; if searches need indices by day or kind, give them a field to filter by");
    result_.alias = index->value;
  }

  std::string column_in(const LogstashSetting& pattern, const SelectStatement& statement) const {
    const std::optional<std::string> field = field_in(pattern.value);
    if (!field)
      fail(pattern.line,
           pattern.name + " is \"" + pattern.value +
               "\", not one column; give the statement a column that is that, and name it here");
    const std::optional<std::string> expression = statement.expression_of(*field);
    if (!expression)
      fail(pattern.line, pattern.name + " is " + *field + ", which the statement does not give");
    return *expression;
  }

  void take_statement(const LogstashPlugin& input, const LogstashPlugin& output) {
    const LogstashSetting* sql = setting(input, "statement");
    std::string text = sql == nullptr ? "" : sql->value;
    if (const LogstashSetting* const file = setting(input, "statement_filepath");
        sql == nullptr && file != nullptr) {
      sql = file;
      text = read_(file->value);
    }
    if (sql == nullptr) fail(input.line, "the input has no statement");
    const SelectStatement statement = [&] {
      try {
        return read_select(text, "sql_last_value");
      } catch (const UsageError& error) {
        fail(sql->line, error.what());
      }
    }();
    const LogstashSetting* const id = setting(output, "document_id");
    if (id == nullptr)
      fail(output.line,
           "it has no document_id, so that every row becomes another document each time; name the column "
           "that distinguishes rows: document_id => \"%{id}\"");
    result_.columns = statement.before + "\n  " + column_in(*id, statement) + " as _id";
    if (const LogstashSetting* const routing = setting(output, "routing"))
      result_.columns += ",\n  " + column_in(*routing, statement) + " as _routing";
    for (const std::string& item : statement.items) result_.columns += ",\n  " + item;
    result_.columns += "\n" + statement.after;
    for (const std::string& column : statement.capital_names())
      leave(sql->line, "the column " + column + "; Logstash calls it " + lowered(column),
            "let the view call it as searches do");
    for (const std::string& condition : statement.taken_out)
      leave(sql->line, "the condition " + condition, "nothing: triggers record which rows have changed");
  }

  void leave_plugin(const LogstashPlugin& plugin) {
    if (plugin.conditional)
      leave(plugin.line, "the condition around " + plugin.name, "write it as SQL in the view");
    const bool is_translated =
        plugin.name == "jdbc" || (plugin.section == "output" && plugin.name == "elasticsearch");
    if (is_translated || only_removes_logstashs(plugin)) return;
    if (plugin.section == "filter")
      leave(plugin.line, "the filter " + plugin.name,
            "write its work as SQL in the view, or as an ingest pipeline");
    else
      leave(plugin.line, "the " + plugin.section + " " + plugin.name, "it has no counterpart");
  }

  // mutate { remove_field => ["@version", "@timestamp"] }: these fields are not there.
  static bool only_removes_logstashs(const LogstashPlugin& plugin) {
    if (plugin.name != "mutate") return false;
    return std::all_of(plugin.settings.begin(), plugin.settings.end(), [](const LogstashSetting& each) {
      std::vector<std::string> fields = each.values;
      if (fields.empty()) fields.push_back(each.value);
      return each.name == "remove_field" &&
             std::all_of(fields.begin(), fields.end(), [](const std::string& field) {
               return field == "@version" || field == "@timestamp";
             });
    });
  }

  void leave_settings(const LogstashPlugin& plugin) {
    for (const LogstashSetting& each : plugin.settings) {
      const bool is_a_write = each.name == "action" && each.value != "delete";
      if (is_a_write || kNotNeeded.contains(each.name)) continue;
      const auto known = kInstead.find(each.name);
      leave(each.line, each.name,
            known == kInstead.end() ? "see docs/coming-from-logstash.md" : known->second);
    }
  }

  const std::string name_;
  const std::function<std::string(const std::string&)>& read_;
  LogstashIndex result_;
};

}  // namespace

LogstashIndex read_logstash_pipeline(std::string_view name, std::string_view text,
                                     const std::function<std::string(const std::string& file)>& read) {
  return Translator(name, read).translate(read_logstash_file(name, text));
}

}  // namespace lockstep
