// `lockstep init`: writes configuration, mapping and view for a first index, from the database's catalog.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "replicator/cli/options/options.h"
#include "replicator/cli/verb.h"
#include "replicator/config/source_url.h"
#include "replicator/config/text_checks.h"
#include "replicator/config/text_file.h"
#include "replicator/draft/files.h"
#include "replicator/draft/logstash.h"
#include "replicator/draft/mapping.h"
#include "replicator/draft/pgsync.h"
#include "replicator/draft/view.h"
#include "replicator/error.h"
#include "replicator/shell_word.h"
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

// Each new; none is written if one is there already.
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

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// "a, b" and "c" are three.
std::vector<std::string> split(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const std::string name = trimmed(list.substr(begin, end - begin));
      if (!name.empty()) names.push_back(name);
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

class Init final : public Verb {
 public:
  const char* name() const override { return "init"; }
  const char* summary() const override {
    return "Write configuration, mapping and view for a first index, from the database's tables";
  }
  const char* example() const override {
    return "lockstep init --source postgresql:///shop --view search.orders orders\n"
           "lockstep init --source postgresql:///shop --table shop.orders --with customers,lines,products "
           "orders\n"
           "lockstep init --source sqlite:shop.db --table orders --with customers,lines,products orders\n"
           "lockstep init --source postgresql:///shop --from-pgsync schema.json shop\n"
           "lockstep init --from-logstash /etc/logstash/conf.d/products.conf products";
  }

  void add_options(Options options) override {
    options
        .option("--source", source_,
                "The database: a PostgreSQL connection URI, or `sqlite:` and the path of a file")
        .value_name("URL")
        .or_environment("LOCKSTEP_SOURCE");
    const Option view =
        options.option("--view", view_, "A view that exists, with a column _id: its rows become documents")
            .value_name("NAME");
    const Option table =
        options.option("--table", table_, "A table: its rows become documents of a view that is written, too")
            .value_name("NAME")
            .excludes(view);
    const Option pgsync =
        options.option("--from-pgsync", pgsync_, "A schema file of PGSync: each entry becomes an index")
            .value_name("FILE")
            .excludes(view)
            .excludes(table);
    options
        .option("--from-logstash", logstash_,
                "A pipeline file of Logstash with a jdbc input: its statement becomes a view")
        .value_name("FILE")
        .excludes(view)
        .excludes(table)
        .excludes(pgsync);
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
        .show_default(kElasticsearch);
    options.option("DIR", folder_, "The folder for the files; init creates it").required();
  }

  ExitCode run() override {
    if (view_.empty() && table_.empty() && pgsync_.empty() && logstash_.empty())
      throw UsageError("init: give --view NAME, --table NAME, --from-pgsync FILE or --from-logstash FILE");
    if (!with_.empty() && table_.empty())
      throw UsageError("--with goes with --table; a view has its tables in its SQL");
    if (!logstash_.empty()) read_logstash();
    if (source_.empty()) throw UsageError("--source is required; without it $LOCKSTEP_SOURCE is read");
    if (pgsync_.empty() && alias_.empty()) alias_ = alias_of(view_.empty() ? table_ : view_);
    if (!alias_.empty()) require("--alias", alias_fault(alias_));
    const SourceConfig source = source_config();
    if (elasticsearch_.empty()) elasticsearch_ = kElasticsearch;
    require("--elasticsearch", elasticsearch_url_fault(elasticsearch_));
    const std::unique_ptr<SchemaReader> reader = open_schema_reader(source);
    const TableGraph graph = reader->tables();
    std::vector<Draft> drafts;
    if (!pgsync_.empty()) {
      drafts = of_pgsync(*reader, graph, source);
    } else {
      drafts.push_back(!logstash_.empty() ? of_logstash(*reader, graph)
                       : view_.empty()    ? of_table(*reader, graph)
                                          : of_view(reader->view(view_), "", *reader, graph));
      drafts.front().alias = alias_;
    }
    for (const Draft& draft : drafts) require("--alias", alias_fault(draft.alias));
    write(graph, drafts, source, reader->dialect());
    return ExitCode::kDone;
  }

 private:
  static constexpr const char* kElasticsearch = "http://localhost:9200";

  struct Draft {
    std::string alias;
    std::string view;
    std::string view_sql;  // empty: it exists
    std::vector<DraftField> fields;
    std::string settings = {};  // of the index, as JSON
    DraftTracks tracks;
    std::vector<std::string> unknown = {};  // besides tables without a track
    std::vector<LeftOutColumn> left_out = {};
    std::vector<Finding> untranslated = {};  // of another tool's file
  };

  SourceConfig source_config() const {
    require("--source", source_url_fault(source_));
    if (has_password_parameter(source_))
      throw UsageError(
          "--source: take the password out of the url's parameters; ~/.pgpass and $PGPASSWORD serve");
    SourceConfig source;
    constexpr std::string_view kSqlite = "sqlite:";
    if (source_.starts_with(kSqlite)) {
      // The draft is read in another folder.
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

  static Draft of_view(const ViewShape& view, const std::string& statements, SchemaReader& reader,
                       const TableGraph& graph) {
    Draft draft;
    draft.view = view.name;
    draft.view_sql = statements;
    draft.tracks = draft_tracks(graph, view.graph, view.reads, reader.dialect());
    for (const GraphColumn& column : view.columns) {
      if (!column.name.starts_with('_'))
        draft.fields.push_back({column.name, column.kind, {}, {}, column.json_in_text});
    }
    draft.unknown = view.unknown;
    if (view.recursive)
      draft.unknown.push_back(
          "how far a recursive query goes; the tracks follow its first step; write keys with \"with "
          "recursive\" for more");
    return draft;
  }

  static void require_new(SchemaReader& reader, const std::string& view) {
    if (reader.has(view)) throw UsageError(view + " exists already; use it with --view " + view);
  }

  static Draft of_drafted(const DraftView& drafted, SchemaReader& reader, const TableGraph& graph) {
    require_new(reader, drafted.name);
    Draft draft;
    draft.view = drafted.name;
    draft.view_sql = reader.dialect().before_view() + drafted.sql;
    draft.fields = drafted.fields;
    draft.left_out = drafted.left_out;
    draft.tracks = draft_tracks(graph, drafted.graph, drafted.reads, reader.dialect());
    add_unknown("", draft.fields, draft.unknown);
    return draft;
  }

  // Fields whose values are unknown.
  static void add_unknown(const std::string& above, const std::vector<DraftField>& fields,
                          std::vector<std::string>& unknown) {
    for (const DraftField& field : fields) {
      add_unknown(above + field.name + ".", field.fields, unknown);
      if (field.kind == ValueKind::kMixed && field.mapping.empty())
        unknown.push_back(
            "the contents of field " + above + field.name +
            ", so it cannot be searched: its rows have no value yet, values of several shapes, or "
            "none that this role may read; change its mapping before you apply");
    }
  }

  Draft of_table(SchemaReader& reader, const TableGraph& graph) const {
    const std::string view = reader.view_for(table_called(graph, table_).own);
    return of_drafted(draft_view(graph, view, table_, split(with_), reader.dialect()), reader, graph);
  }

  std::vector<Draft> of_pgsync(SchemaReader& reader, const TableGraph& graph,
                               const SourceConfig& source) const {
    if (source.kind != SourceConfig::Kind::kPostgresql)
      throw UsageError("--from-pgsync goes with PostgreSQL, which PGSync reads");
    std::vector<PgsyncIndex> indices = read_pgsync_schema(pgsync_, text_of("--from-pgsync", pgsync_));
    if (!alias_.empty() && indices.size() > 1)
      throw UsageError("--alias is for one index, and " + pgsync_ + " has " + std::to_string(indices.size()));
    std::vector<Draft> drafts;
    for (PgsyncIndex& index : indices) {
      const std::string alias = alias_.empty() ? index.alias : alias_;
      const DraftView drafted = draft_view(graph, reader.view_for(alias), index.document, reader.dialect());
      drafts.push_back(of_drafted(drafted, reader, graph));
      drafts.back().alias = alias;
      drafts.back().settings = index.settings;
      drafts.back().untranslated = std::move(index.untranslated);
    }
    return drafts;
  }

  void read_logstash() {
    const fs::path folder = fs::path(logstash_).parent_path();
    pipeline_ = read_logstash_pipeline(
        logstash_, text_of("--from-logstash", logstash_),
        [&](const std::string& file) { return text_of("statement_filepath", (folder / file).string()); });
    if (source_.empty()) source_ = pipeline_.source_url;
    if (elasticsearch_.empty()) elasticsearch_ = pipeline_.elasticsearch_url;
    if (alias_.empty()) alias_ = pipeline_.alias;
    if (alias_.empty()) throw UsageError(logstash_ + " does not name one index; give --alias NAME");
  }

  Draft of_logstash(SchemaReader& reader, const TableGraph& graph) const {
    const std::string view = reader.view_for(alias_);
    require_new(reader, view);
    const std::string statements =
        reader.dialect().before_view() + "create view " + view + " as\n" + pipeline_.columns + ";\n";
    Draft draft = of_view(reader.drafted_view(view, statements), statements, reader, graph);
    draft.untranslated = pipeline_.untranslated;
    return draft;
  }

  static std::string text_of(const std::string& option, const std::string& file) {
    std::variant<std::string, TextFault> read = read_text_file(file, Pipes::kRead);
    if (const auto* const fault = std::get_if<TextFault>(&read)) require(option, *fault);
    return std::get<std::string>(std::move(read));
  }

  void write(const TableGraph& graph, const std::vector<Draft>& drafts, const SourceConfig& source,
             const SqlDialect& dialect) const {
    std::vector<File> files;
    for (const Draft& draft : drafts) {
      std::vector<std::string> json;
      for (const DraftField& field : draft.fields) {
        if (field.json_in_text) json.push_back(field.name);
      }
      files.push_back(
          {file(draft, ".toml"),
           draft_configuration({pipeline_name(draft.alias), source.url, !source.password.empty(),
                                elasticsearch_, draft.alias, draft.alias + ".json", draft.view, json},
                               draft.tracks, dialect)});
      files.push_back({file(draft, ".json"), draft_mapping(draft.fields, draft.settings)});
      const std::string statements = draft_statements(draft.view_sql, graph, draft.tracks, dialect);
      if (!statements.empty()) files.push_back({file(draft, ".sql"), statements});
    }
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) throw UsageError("cannot make the folder " + folder_ + ": " + error.message());
    write_new(files);
    for (const File& written : files) std::cout << "wrote " << written.path.string() << '\n';
    for (const Draft& draft : drafts) {
      tell(draft);
      std::vector<std::string> client;
      const fs::path sql = file(draft, ".sql");
      if (fs::exists(sql)) client = dialect.client(source.url, sql.string());
      print_next(file(draft, ".toml"), client, source);
    }
  }

  fs::path file(const Draft& draft, const char* extension) const {
    return fs::path(folder_) / (draft.alias + extension);
  }

  void tell(const Draft& draft) const {
    for (const Finding& finding : draft.untranslated)
      std::cout << "! not translated: " << to_line(finding) << '\n';
    for (const UnknownTrack& unknown : draft.tracks.unknown)
      std::cout << "! not known: " << unknown.reason << "; "
                << (unknown.every_document.empty() ? "" : "a track to every document serves; ")
                << "see the end of " << file(draft, ".toml").string() << '\n';
    for (const std::string& unknown : draft.unknown) std::cout << "! not known: " << unknown << '\n';
    for (const LeftOutColumn& column : draft.left_out)
      std::cout << "! left out: " << column.name << ", which looks like a secret; to have it as the field "
                << column.field << ", add " << column.as << " to the view and the field to "
                << file(draft, ".json").string() << '\n';
  }

  static void print_next(const fs::path& configuration, const std::vector<std::string>& client,
                         const SourceConfig& source) {
    const std::string c = " -c " + shell_word(configuration.string());
    std::cout << "\nnext:\n";
    if (!source.password.empty()) std::cout << "  export PGPASSWORD=…   # it is not in the files\n";
    if (!client.empty()) {
      std::cout << " ";
      for (const std::string& word : client) std::cout << ' ' << shell_word(word);
      std::cout << "   # review it first\n";
    }
    std::cout << "  lockstep up" << c << "   # for a first try; or one step at a time:\n  lockstep check" << c
              << "\n  lockstep apply" << c << "\n  lockstep run" << c
              << " --until-caught-up\n  lockstep verify" << c << '\n';
  }

  std::string source_;
  std::string view_;
  std::string table_;
  std::vector<std::string> with_;
  std::string alias_;
  std::string pgsync_;
  std::string logstash_;
  LogstashIndex pipeline_;     // of --from-logstash
  std::string elasticsearch_;  // empty: none was given
  std::string folder_;
};

}  // namespace

std::unique_ptr<Verb> make_init_verb() {
  return std::make_unique<Init>();
}

}  // namespace lockstep
