// `lockstep init`: writes configuration, mapping and view for a first index, from what the database knows.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>
#include <vector>

#include "replicator/cli/options/options.h"
#include "replicator/cli/verb.h"
#include "replicator/config/source_url.h"
#include "replicator/config/text_checks.h"
#include "replicator/draft/files.h"
#include "replicator/draft/mapping.h"
#include "replicator/draft/view.h"
#include "replicator/error.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

struct File {
  fs::path path;
  std::string content;
};

void require(const std::string& option, const TextFault& fault) {
  if (!fault.what.empty()) throw UsageError(option + ": " + fault.what + "; " + fault.remedy);
}

// Each new; none is written when one is there already.
void write_new(const std::vector<File>& files) {
  for (const File& file : files) {
    if (fs::exists(fs::symlink_status(file.path)))
      throw UsageError(file.path.string() +
                       " is there already; nothing was written; name another DIR or --alias");
  }
  for (const File& file : files) {
    const auto fail = [&] {
      throw UsageError("cannot write " + file.path.string() + ": " + std::generic_category().message(errno));
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.path.c_str(), "wx"),
                                                              &std::fclose);
    if (!out) fail();
    if (std::fwrite(file.content.data(), 1, file.content.size(), out.get()) != file.content.size() ||
        std::fflush(out.get()) != 0)
      fail();
  }
}

std::vector<std::string> split(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      if (end > begin) names.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return names;
}

// "blog.\"Posts\"" → "posts"
std::string alias_of(const std::string& name) {
  std::string own = name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
  std::erase(own, '"');
  std::transform(own.begin(), own.end(), own.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return own;
}

// In the shell's words.
std::string shell_quoted(const std::string& text) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

class Init final : public Verb {
 public:
  const char* name() const override { return "init"; }
  const char* summary() const override {
    return "Write configuration, mapping and view for a first index, from the database's tables";
  }
  const char* example() const override {
    return "lockstep init --source postgresql:///shop --view search.films films\n"
           "lockstep init --source postgresql:///shop --table shop.orders --with customers,order_lines,tags "
           "orders\n"
           "lockstep init --source sqlite:shop.db --table orders --with customers,order_lines,tags orders";
  }

  void add_options(Options options) override {
    options
        .option("--source", source_,
                "The database: a PostgreSQL connection URI, or `sqlite:` and the path of a file")
        .value_name("URL")
        .or_environment("LOCKSTEP_SOURCE")
        .required();
    const Option view =
        options.option("--view", view_, "A view that exists, with a column _id: its rows become documents")
            .value_name("NAME");
    options.option("--table", table_, "A table: its rows become documents of a view that is written, too")
        .value_name("NAME")
        .excludes(view);
    options
        .option("--with", with_,
                "Tables that become part of the documents: rows that they refer to as objects, rows that "
                "refer to "
                "them as arrays")
        .value_name("TABLE,…")
        .one_value_each();
    options.option("--alias", alias_, "The name that searches use; default: that of the view or table")
        .value_name("NAME");
    options.option("--elasticsearch", elasticsearch_, "The url of Elasticsearch or OpenSearch")
        .value_name("URL")
        .show_default();
    options.option("DIR", folder_, "The folder of the files; it is made if need be").required();
  }

  ExitCode run() override {
    if (view_.empty() == table_.empty()) throw UsageError("init: say --view NAME or --table NAME");
    if (!with_.empty() && table_.empty())
      throw UsageError("--with goes with --table; a view says itself what it reads");
    const SourceConfig source = source_config();
    require("--elasticsearch", elasticsearch_url_fault(elasticsearch_));
    if (alias_.empty()) alias_ = alias_of(view_.empty() ? table_ : view_);
    require("--alias", alias_fault(alias_));
    const std::unique_ptr<SchemaReader> reader = open_schema_reader(source);
    const TableGraph graph = reader->tables();
    const Draft draft = view_.empty() ? of_table(*reader, graph) : of_view(*reader, graph);
    write(graph, draft, source, reader->dialect());
    return ExitCode::kDone;
  }

 private:
  struct Draft {
    std::string view;
    std::string view_sql;  // empty: it exists
    std::vector<DraftField> fields;
    DraftTracks tracks;
    std::vector<std::string> unknown;  // besides tables without a track
  };

  SourceConfig source_config() const {
    require("--source", source_url_fault(source_));
    if (has_password_parameter(source_))
      throw UsageError(
          "--source: take the password out of the url's parameters; ~/.pgpass and $PGPASSWORD serve");
    SourceConfig source;
    constexpr std::string_view kSqlite = "sqlite:";
    if (source_.starts_with(kSqlite)) {
      // What is written down is read in another folder.
      source.kind = SourceConfig::Kind::kSqlite;
      source.database = fs::absolute(source_.substr(kSqlite.size())).lexically_normal();
      source.url = std::string(kSqlite) + source.database.string();
      if (!fs::exists(source.database))
        throw UsageError("--source: there is no file " + source.database.string());
      return source;
    }
    const std::optional<SeparatedUrl> separated = separate_password(source_);
    if (!separated) throw UsageError("--source: the url's password has a broken percent escape");
    source.url = separated->url;
    source.password = separated->password;
    return source;
  }

  Draft of_view(SchemaReader& reader, const TableGraph& graph) const {
    const ViewShape view = reader.view(view_);
    if (view.root.empty())
      throw UsageError("view " + view.name +
                       " does not tell which table's row gives its _id (a union, an expression); "
                       "write the tracks by hand, as docs/configuration.md shows");
    Draft draft{view.name, "", {}, draft_tracks(graph, joins_of_view(graph, view), reader.dialect()), {}};
    for (const GraphColumn& column : view.columns) {
      if (!column.name.starts_with('_'))
        draft.fields.push_back({column.name, column.kind, {}, column.json_in_text});
    }
    draft.unknown = view.unknown;
    if (view.recursive)
      draft.unknown.push_back(
          "how far a recursive query goes; the tracks follow as many steps as the view names a "
          "table; write keys with \"with recursive\" for more");
    return draft;
  }

  Draft of_table(SchemaReader& reader, const TableGraph& graph) const {
    const SqlDialect& dialect = reader.dialect();
    const std::string view = reader.view_for(table_called(graph, table_).own);
    if (reader.has(view)) throw UsageError(view + " exists already; use it with --view " + view);
    const DraftView drafted = draft_view(graph, view, table_, split(with_), dialect);
    return {view,
            dialect.before_view() + drafted.sql,
            drafted.fields,
            draft_tracks(graph, drafted.joins, dialect),
            {}};
  }

  void write(const TableGraph& graph, const Draft& draft, const SourceConfig& source,
             const SqlDialect& dialect) const {
    const fs::path folder = folder_;
    const auto file = [&](const char* extension) { return folder / (alias_ + extension); };
    std::vector<std::string> json;
    for (const DraftField& field : draft.fields) {
      if (field.json_in_text) json.push_back(field.name);
    }
    std::vector<File> files = {
        {file(".toml"), draft_configuration({pipeline_name(alias_), source.url, !source.password.empty(),
                                             elasticsearch_, alias_, alias_ + ".json", draft.view, json},
                                            draft.tracks, dialect)},
        {file(".json"), draft_mapping(draft.fields)}};
    const std::string statements = draft_statements(draft.view_sql, graph, draft.tracks, dialect);
    if (!statements.empty()) files.push_back({file(".sql"), statements});
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw UsageError("cannot make the folder " + folder_ + ": " + error.message());
    write_new(files);
    for (const File& written : files) std::cout << "wrote " << written.path.string() << '\n';
    for (const UnknownTrack& unknown : draft.tracks.unknown)
      std::cout << "! not known: " << unknown.reason << "; see the end of " << file(".toml").string() << '\n';
    for (const std::string& unknown : draft.unknown) std::cout << "! not known: " << unknown << '\n';
    std::vector<std::string> client;
    if (!statements.empty()) client = dialect.client(source.url, file(".sql").string());
    print_next(file(".toml"), client, source);
  }

  static void print_next(const fs::path& configuration, const std::vector<std::string>& client,
                         const SourceConfig& source) {
    const std::string c = " -c " + shell_quoted(configuration.string());
    std::cout << "\nnext:\n";
    if (!source.password.empty()) std::cout << "  export PGPASSWORD=…   # it is not in the files\n";
    if (!client.empty()) {
      std::cout << " ";
      for (const std::string& word : client) std::cout << ' ' << shell_quoted(word);
      std::cout << "   # review it first\n";
    }
    std::cout << "  lockstep check" << c << "\n  lockstep apply" << c << "\n  lockstep run" << c
              << " --until-caught-up\n  lockstep verify" << c << '\n';
  }

  std::string source_;
  std::string view_;
  std::string table_;
  std::vector<std::string> with_;
  std::string alias_;
  std::string elasticsearch_ = "http://localhost:9200";
  std::string folder_;
};

}  // namespace

std::unique_ptr<Verb> make_init_verb() {
  return std::make_unique<Init>();
}

}  // namespace lockstep
