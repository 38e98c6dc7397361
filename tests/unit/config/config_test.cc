#include "replicator/config/config.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <sstream>
#include <thread>

#include "replicator/config/lock_mode_config.h"
#include "tests/unit/config/config_folder.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using ConfigTest = ConfigFolder;

// print-config waited for a writer for ever.
TEST_F(ConfigTest, APipeInPlaceOfAFileThatItNamesIsAFaultAtOnce) {
  std::filesystem::remove(folder_ / "blogposts.json");
  ASSERT_EQ(::mkfifo((folder_ / "blogposts.json").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((folder_ / "password").c_str(), 0600), 0);
  EXPECT_THAT(
      faults(kSource + "password_file = \"password\"\n" + kIndex),
      AllOf(HasSubstr("password is no regular file"), HasSubstr("blogposts.json is no regular file")));
}

TEST_F(ConfigTest, TheConfigurationItselfMayComeThroughAPipe) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::jthread writer([&] { std::ofstream(pipe) << kSource << kIndex; });
  EXPECT_EQ(load_config(pipe).indices.size(), 1U);
}

TEST_F(ConfigTest, AConfigurationWithoutAnEndIsRefused) {
  try {
    load_config("/dev/zero");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the configuration /dev/zero is larger than 16 MiB"));
  }
}

TEST_F(ConfigTest, ReadsEveryKeyOfTheDesign) {
  write("password", "s3cret\n");
  const Config config = load(R"toml(
pipeline = "shop"
[source]
url = "postgresql://lockstep@/shop"
password_file = "password"
schema = "sync"
[elasticsearch]
urls = ["https://es1:9200", "https://es2:9200/prefix"]
username = "lockstep"
password = "geheim"
connect_timeout = "2s"
request_timeout = "1m"
bulk_bytes = "512KiB"
bulks_in_flight = 5
[replication]
poll_interval = "20ms"
fan_out_threshold = 500
chunk_documents = 50
max_refused_share = 0.25
[http]
listen = "127.0.0.1:9464"
[slo]
lag = "2s"
[log]
level = "debug"
format = "json"
[locks]
backend = "postgresql"
index = "my-locks"
lease = "30s"
[tree]
index = "files"
locking = "document"
[[index]]
alias = "blogposts"
mapping = "blogposts.json"
view = "search.blogposts"
[[index.track]]
table = "blog.blogposts"
[[index.track]]
table = "blog.users"
column = "_user_id"
columns = ["name"]
[[index.track]]
table = "blog.comments"
row = "blogpost_id"
[[index.track]]
table = "blog.tags"
keys = "select blogpost_id from blog.blogpost_tags where tag_id = any($1)"
[[index.track]]
table = "blog.audit"
ignore = true
)toml");
  EXPECT_EQ(config.pipeline, "shop");
  EXPECT_EQ(config.source.kind, SourceConfig::Kind::kPostgresql);
  EXPECT_EQ(config.source.password.value(), "s3cret");
  EXPECT_EQ(config.source.schema, "sync");
  EXPECT_THAT(config.elasticsearch.urls, ElementsAre("https://es1:9200", "https://es2:9200/prefix"));
  EXPECT_EQ(config.elasticsearch.username, "lockstep");
  EXPECT_EQ(config.elasticsearch.password.value(), "geheim");
  EXPECT_EQ(config.elasticsearch.connect_timeout, std::chrono::seconds(2));
  EXPECT_EQ(config.elasticsearch.request_timeout, std::chrono::minutes(1));
  EXPECT_EQ(config.elasticsearch.bulk_bytes, 512 * 1024);
  EXPECT_EQ(config.elasticsearch.bulks_in_flight, 5);
  EXPECT_EQ(config.replication.poll_interval, std::chrono::milliseconds(20));
  EXPECT_EQ(config.replication.fan_out_threshold, 500);
  EXPECT_EQ(config.replication.chunk_documents, 50);
  EXPECT_EQ(config.replication.max_refused_share, 0.25);
  EXPECT_EQ(config.http.listen, "127.0.0.1:9464");
  EXPECT_EQ(config.slo.lag, std::chrono::seconds(2));
  EXPECT_EQ(config.log.level, "debug");
  EXPECT_EQ(config.log.format, LogFormat::kJson);
  EXPECT_EQ(config.locks.backend, LocksConfig::Backend::kPostgresql);
  EXPECT_EQ(config.locks.index, "my-locks");
  EXPECT_EQ(config.locks.lease, std::chrono::seconds(30));
  EXPECT_EQ(config.tree.index, "files");
  EXPECT_EQ(config.tree.locking, TreeConfig::Locking::kDocument);
  ASSERT_EQ(config.indices.size(), 1U);
  const IndexConfig& index = config.indices[0];
  EXPECT_EQ(index.mapping, folder_ / "blogposts.json");
  EXPECT_THAT(index.mapping_json, HasSubstr("number_of_shards"));
  EXPECT_EQ(index.line, 34);
  ASSERT_EQ(index.tracks.size(), 5U);
  EXPECT_EQ(index.tracks[0].table, "blog.blogposts");
  EXPECT_EQ(index.tracks[1].column, "_user_id");
  EXPECT_THAT(index.tracks[1].columns, ElementsAre("name"));
  EXPECT_EQ(index.tracks[2].row, "blogpost_id");
  EXPECT_EQ(index.tracks[2].line, 44);
  EXPECT_THAT(index.tracks[3].keys, HasSubstr("any($1)"));
  EXPECT_TRUE(index.tracks[4].ignore);
}

TEST_F(ConfigTest, WhatIsLeftOutHasItsDefault) {
  const Config config = load(kSource + kIndex);
  EXPECT_EQ(config.pipeline, "lockstep");
  EXPECT_EQ(config.source.schema, "lockstep");
  EXPECT_TRUE(config.source.password.empty());
  EXPECT_THAT(config.elasticsearch.urls, ElementsAre("http://localhost:9200"));
  EXPECT_EQ(config.http.listen, "");
  EXPECT_EQ(config.log.level, "info");
}

TEST_F(ConfigTest, AnObjectiveIsADurationAndWithoutOneNothingIsPromised) {
  const auto with = [&](const std::string& lag) { return kSource + "[slo]\nlag = " + lag + "\n" + kIndex; };
  EXPECT_EQ(load(kSource + kIndex).slo.lag.count(), 0);
  EXPECT_EQ(load(with("\"500ms\"")).slo.lag, std::chrono::milliseconds(500));
  for (const char* wrong : {"\"0s\"", "\"9ms\"", "\"2d\"", "\"2 s\"", "2"}) {
    EXPECT_THAT(faults(with(wrong)), AllOf(HasSubstr("lockstep.toml:5: \"lag\" "), Not(HasSubstr("\n"))))
        << wrong;
  }
  EXPECT_THAT(faults(kSource + "[log]\nformat = \"journal\"\n" + kIndex),
              HasSubstr("lockstep.toml:5: \"format\" "));
}

TEST_F(ConfigTest, LocksNeedNeitherASourceNorAnIndex) {
  const std::string elasticsearch = "[elasticsearch]\nurls = [\"http://es1:9200\"]\n";
  const Config config = load_lock_mode_config(write("lockstep.toml", elasticsearch));
  EXPECT_THAT(config.elasticsearch.urls, ElementsAre("http://es1:9200"));
  EXPECT_EQ(config.locks.index, "lockstep-locks");
  EXPECT_THAT(faults(elasticsearch), HasSubstr("there is no [[index]]")) << "other commands do";
  EXPECT_THROW(load_lock_mode_config(write("lockstep.toml", elasticsearch + "[locks]\nindx = \"x\"\n")),
               UsageError);
  EXPECT_EQ(load_lock_mode_config(write("lockstep.toml", kSource + kIndex)).indices.size(), 1U)
      << "a pipeline's file serves as well";
}

TEST_F(ConfigTest, LocksInPostgresqlNeedItsUrlAndNothingElse) {
  const std::string locks = "[locks]\nbackend = \"postgresql\"\n";
  const Config config = load_lock_mode_config(write("lockstep.toml", kSource + locks));
  EXPECT_EQ(config.locks.backend, LocksConfig::Backend::kPostgresql);
  EXPECT_THAT(faults(locks), HasSubstr("[source] has no \"url\", and the locks are kept there; add url = "));
  EXPECT_THAT(faults("[source]\nurl = \"sqlite:shop.db\"\n" + locks),
              HasSubstr("locks in PostgreSQL need a PostgreSQL source"));
  const std::string schema(58, 's');
  EXPECT_THAT(faults(kSource + "schema = \"" + schema + "\"\n" + locks),
              HasSubstr("lockstep.toml:4: the name of the schema has more than 57 bytes"));
  EXPECT_EQ(faults(kSource + "schema = \"" + schema.substr(1) + "\"\n" + locks), "");
}

TEST_F(ConfigTest, AllFaultsAreReportedAtOnceInTheOrderOfTheFile) {
  EXPECT_EQ(
      faults(R"(pipline = "shop"
[source]
url = "mysql://shop"
[elasticsearch]
urls = "http://localhost:9200"
bulks_in_flight = 0
[http]
listen = 9464
[[index]]
alias = "Blogposts"
mapping = "missing.json"
view = "blogposts"
[[index.track]]
tabel = "blog.users"
)"),
      "lockstep.toml:1: unknown key \"pipline\" at the top of the file; did you mean \"pipeline\"?\n"
      "lockstep.toml:3: the source's url is neither PostgreSQL's nor SQLite's; write "
      "\"postgresql://user@host/database\" or \"sqlite:/path/to/file\"\n"
      "lockstep.toml:5: \"urls\" must be a list of texts; write urls = [\"https://es1:9200\", "
      "\"https://es2:9200\"]\n"
      "lockstep.toml:6: \"bulks_in_flight\" is out of range; write a value from 1 to 64\n"
      "lockstep.toml:8: \"listen\" must be a text; write listen = \"127.0.0.1:9464\"\n"
      "lockstep.toml:10: \"Blogposts\" cannot name an index of Elasticsearch: it has capitals; write it in "
      "lower case\n"
      "lockstep.toml:11: missing.json cannot be read: No such file or directory; check the path; a relative "
      "path starts at the folder of the configuration file\n"
      "lockstep.toml:13: [[index.track]] has no \"table\"; add table = \"blog.users\"\n"
      "lockstep.toml:14: unknown key \"tabel\" in [[index.track]]; did you mean \"table\"?");
}

TEST_F(ConfigTest, AShareIsANumberFromZeroToOne) {
  const auto with = [&](const std::string& share) {
    return kSource + "[replication]\nmax_refused_share = " + share + "\n" + kIndex;
  };
  EXPECT_EQ(load(kSource + kIndex).replication.max_refused_share, 0.5);
  EXPECT_EQ(load(with("1")).replication.max_refused_share, 1);
  EXPECT_EQ(load(with("0.0")).replication.max_refused_share, 0);
  for (const char* beyond : {"1.1", "-0.1", "2", "nan", "inf"}) {
    EXPECT_THAT(faults(with(beyond)),
                HasSubstr("\"max_refused_share\" is out of range; write a value from 0"))
        << beyond;
  }
  for (const char* other : {"\"0.5\"", "\"50 %\"", "true", "[0.5]"}) {
    EXPECT_THAT(faults(with(other)), HasSubstr("must be a number from 0 to 1; write max_refused_share = 0.5"))
        << other;
  }
}

TEST_F(ConfigTest, SyntaxErrorsHaveLineAndColumn) {
  EXPECT_THAT(faults("pipeline = \"shop\"\nurls = [\n"), HasSubstr("lockstep.toml:2:10: "));
  EXPECT_THAT(faults("pipeline = shop\n"), HasSubstr("lockstep.toml:1:12: "));
  EXPECT_THAT(faults("pipeline = in\n"), AllOf(HasSubstr("saw 'in\\n'"), Not(HasSubstr("\n"))));
}

TEST_F(ConfigTest, AMissingFileSaysHowToNameOne) {
  try {
    load_config(folder_ / "none.toml");
    FAIL() << "loaded";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("none.toml cannot be read: No such file or directory"));
    EXPECT_THAT(error.what(), HasSubstr("LOCKSTEP_CONFIG"));
  }
}

TEST_F(ConfigTest, AKeyInTheWrongSectionNamesTheRightOne) {
  EXPECT_THAT(faults(kSource + "urls = [\"http://localhost:9200\"]\n" + kIndex),
              HasSubstr("lockstep.toml:4: unknown key \"urls\" in [source]; it belongs to [elasticsearch]"));
  EXPECT_THAT(faults(kSource + kIndex + "pipeline = \"shop\"\n"),
              HasSubstr("unknown key \"pipeline\" in [[index.track]]; it belongs to the top of the file"));
}

TEST_F(ConfigTest, AnUnknownSectionNamesTheNearest) {
  EXPECT_THAT(faults(kSource + "[elasticsaerch]\n" + kIndex),
              HasSubstr("unknown section \"elasticsaerch\"; did you mean \"elasticsearch\"?"));
  EXPECT_THAT(faults(kSource + kIndex + "[[index.tracks]]\ntable = \"a.b\"\n"),
              HasSubstr("unknown section \"index.tracks\"; did you mean \"track\"?"));
}

TEST_F(ConfigTest, SectionsOfTheWrongKindAreFaults) {
  EXPECT_THAT(faults("source = 1\n" + kIndex), HasSubstr("\"source\" is a section; write [source]"));
  EXPECT_THAT(faults(kSource + "[index]\nalias = \"a\"\n"), HasSubstr("write [[index]]"));
  EXPECT_THAT(faults(kSource + "[[index]]\nalias = \"a\"\n[index.track]\ntable = \"a.b\"\n"),
              HasSubstr("write [[index.track]]"));
}

TEST_F(ConfigTest, AtLeastOneIndexOrLockMode) {
  EXPECT_THAT(faults(kSource), HasSubstr("lockstep.toml: there is no [[index]]"));
  EXPECT_EQ(faults("[locks]\nlease = \"5s\"\n"), "");
  EXPECT_EQ(faults("[tree]\nindex = \"files\"\n"), "");
  EXPECT_THAT(faults("[locks]\nbackend = \"postgresql\"\n"), HasSubstr("[source] has no \"url\""));
}

TEST_F(ConfigTest, SecretsComeFromOneOfThreePlaces) {
  write("secret", "from file\r\n");
  ::setenv("LOCKSTEP_TEST_SECRET", "from environment", 1);
  EXPECT_EQ(load(kSource + "password = \"plain\"\n" + kIndex).source.password.value(), "plain");
  EXPECT_EQ(load(kSource + "password_file = \"secret\"\n" + kIndex).source.password.value(), "from file");
  EXPECT_EQ(load(kSource + "password_env = \"LOCKSTEP_TEST_SECRET\"\n" + kIndex).source.password.value(),
            "from environment");
  EXPECT_THAT(
      faults(kSource + "password = \"plain\"\npassword_file = \"secret\"\n" + kIndex),
      HasSubstr("lockstep.toml:5: \"password\" is given twice; keep one of password, password_file and "
                "password_env"));
  ::unsetenv("LOCKSTEP_TEST_SECRET");
}

TEST_F(ConfigTest, SecretsThatCannotBeHadAreFaults) {
  write("empty", "\n");
  write("lines", "one\ntwo\n");
  EXPECT_THAT(faults(kSource + "password_file = \"none\"\n" + kIndex), HasSubstr("none cannot be read"));
  EXPECT_THAT(faults(kSource + "password_file = \".\"\n" + kIndex), HasSubstr("is a folder"));
  EXPECT_THAT(faults(kSource + "password_file = \"empty\"\n" + kIndex), HasSubstr("holds an empty secret"));
  EXPECT_THAT(faults(kSource + "password_file = \"lines\"\n" + kIndex), HasSubstr("control characters"));
  EXPECT_THAT(faults(kSource + "password_env = \"LOCKSTEP_TEST_NOT_SET\"\n" + kIndex),
              HasSubstr("LOCKSTEP_TEST_NOT_SET is not set"));
}

TEST_F(ConfigTest, AFileWithoutPermissionNamesTheUser) {
  using std::filesystem::perms;
  const auto file = write("lockstep.toml", kSource + "password_file = \"closed\"\n" + kIndex);
  std::filesystem::permissions(write("closed", "secret"), perms::none);
  std::filesystem::permissions(file, perms(0644));
  std::filesystem::permissions(folder_, perms(0755));
  const bool root = ::geteuid() == 0;  // root reads everything, so somebody else looks
  ASSERT_EQ(::seteuid(root ? 65'534 : ::geteuid()), 0);
  std::string message;
  try {
    load_config(file);
  } catch (const UsageError& error) {
    message = error.what();
  }
  const std::string user = std::to_string(::geteuid());
  ASSERT_EQ(::seteuid(root ? 0 : ::geteuid()), 0);
  EXPECT_THAT(message, HasSubstr("Permission denied; let user " + user + " read it"));
}

TEST_F(ConfigTest, APasswordInTheUrlIsTakenOutOfIt) {
  const Config config =
      load("[source]\nurl = \"postgresql://app:p%40ss@db:5432/shop?sslmode=require\"\n" + kIndex);
  EXPECT_EQ(config.source.url, "postgresql://app@db:5432/shop?sslmode=require");
  EXPECT_EQ(config.source.password.value(), "p@ss");
  EXPECT_THAT(faults("[source]\nurl = \"postgresql://app:one@db/shop\"\npassword = \"two\"\n" + kIndex),
              HasSubstr("\"password\" is given twice"));
  EXPECT_THAT(faults("[source]\nurl = \"postgresql://app@db/shop?password=one\"\n" + kIndex),
              HasSubstr("the url's parameters hold a password"));
}

TEST_F(ConfigTest, NoFaultPrintsASecret) {
  const std::string text = faults(
      "[source]\nurl = \"mysql://app:hunter2@db/shop\"\npassword = \"hunter2\"\n"
      "[elasticsearch]\napi_key = \"hunter2\"\npassword = \"hunter2\"\n"
      "urls = [\"http://app:hunter2@es:9200\"]\n" +
      kIndex);
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  EXPECT_THAT(text, HasSubstr("holds no credentials"));
  std::ostringstream printed;
  printed << Secret("hunter2") << Secret();
  EXPECT_EQ(printed.str(), "(secret)");
}

TEST_F(ConfigTest, SqliteUrlsGiveTheFile) {
  const Config config = load(
      "[source]\nurl = \"sqlite:shop.db\"\n[[index]]\nalias = \"a\"\nmapping = "
      "\"blogposts.json\"\nview = \"posts\"\n[[index.track]]\ntable = \"posts\"\n");
  EXPECT_EQ(config.source.kind, SourceConfig::Kind::kSqlite);
  EXPECT_EQ(config.source.database, folder_ / "shop.db");
  EXPECT_THAT(faults("[source]\nurl = \"sqlite:/x.db\"\npassword = \"a\"\n" + kIndex),
              HasSubstr("an SQLite database has no password"));
  EXPECT_THAT(faults("[source]\nurl = \"sqlite:/x.db\"\nrender_connections = 3\n" + kIndex),
              HasSubstr("a SQLite file is read on one connection"));
  EXPECT_THAT(faults("[source]\nurl = \"sqlite:app.db?mode=ro\"\n" + kIndex),
              HasSubstr("takes none; write \"sqlite:app.db\""));
}

TEST_F(ConfigTest, AUrlThatIsRefusedAsksForNoSchema) {
  for (const char* const url : {"file:app.db", "sqlite:"}) {
    EXPECT_THAT(faults("[source]\nurl = \"" + std::string(url) +
                       "\"\n[[index]]\nalias = \"a\"\nmapping = \"blogposts.json\"\nview = \"posts\"\n"
                       "[[index.track]]\ntable = \"posts\"\n"),
                AllOf(HasSubstr("neither PostgreSQL's nor SQLite's"), Not(HasSubstr("has no schema"))));
  }
}

TEST_F(ConfigTest, CombinationsThatExcludeOneAnother) {
  const auto elasticsearch = [&](const std::string& keys) {
    return faults(kSource + "[elasticsearch]\n" + keys + kIndex);
  };
  EXPECT_THAT(elasticsearch("api_key = \"a\"\nusername = \"b\"\npassword = \"c\"\n"),
              HasSubstr("lockstep.toml:6: username excludes api_key; keep one way to authenticate"));
  EXPECT_THAT(elasticsearch("username = \"b\"\n"),
              HasSubstr("username needs password; add password_file or password_env"));
  EXPECT_THAT(elasticsearch("password = \"b\"\n"), HasSubstr("password needs username"));
  EXPECT_THAT(elasticsearch("bearer_token = \"a\"\naws_region = \"eu-central-1\"\n"),
              HasSubstr("lockstep.toml:6: aws_region excludes bearer_token"));
  EXPECT_THAT(elasticsearch("aws_region = \"eu-central-1\"\naws_access_key_id = \"a\"\n"),
              HasSubstr("aws_region needs aws_secret_access_key; add aws_secret_access_key_file"));
  EXPECT_THAT(elasticsearch("aws_session_token = \"a\"\n"),
              HasSubstr("aws_session_token needs aws_region; add aws_region"));
  EXPECT_THAT(elasticsearch("aws_region = \"Frankfurt\"\n"), HasSubstr("is not a region of AWS"));
  EXPECT_EQ(elasticsearch("aws_region = \"eu-central-1\"\naws_access_key_id = \"a\"\n"
                          "aws_secret_access_key = \"b\"\naws_session_token = \"c\"\n"),
            "");
  write("cert.pem", "x");
  EXPECT_THAT(elasticsearch("client_cert = \"cert.pem\"\n"), HasSubstr("client_cert needs client_key"));
  EXPECT_THAT(elasticsearch("client_key = \"cert.pem\"\n"), HasSubstr("client_key needs client_cert"));
  EXPECT_THAT(faults(kSource + kIndex + "column = \"a\"\nkeys = \"select 1\"\n"),
              HasSubstr("column excludes keys"));
  EXPECT_THAT(faults(kSource + kIndex + "ignore = true\ncolumn = \"a\"\n"),
              HasSubstr("ignore excludes column"));
}

TEST_F(ConfigTest, TracksMustDiffer) {
  EXPECT_THAT(faults(kSource + kIndex + "[[index.track]]\ntable = \"blog.blogposts\"\n"),
              HasSubstr("lockstep.toml:11: \"blog.blogposts\" is tracked twice in the same way"));
  EXPECT_THAT(faults(kSource + kIndex + "[[index.track]]\ntable = \"blog.blogposts\"\nignore = true\n"),
              HasSubstr("both ignored and tracked"));
  EXPECT_EQ(faults(kSource + kIndex + "[[index.track]]\ntable = \"blog.blogposts\"\nrow = \"parent\"\n"), "");
}

TEST_F(ConfigTest, AliasesMustNotMeet) {
  const auto index = [](const std::string& alias) {
    return "[[index]]\nalias = \"" + alias +
           "\"\nmapping = \"blogposts.json\"\nview = \"a.b\"\n[[index.track]]\ntable = \"a.b\"\n";
  };
  EXPECT_THAT(faults(kSource + kIndex + index("blogposts")),
              HasSubstr("the alias \"blogposts\" is given twice"));
  EXPECT_THAT(faults(kSource + kIndex + index("blogposts-000001")),
              HasSubstr("how the indices of \"blogposts\""));
  EXPECT_THAT(faults(kSource + kIndex + index("lockstep-locks")), HasSubstr("the index of the locks"));
  EXPECT_EQ(faults(kSource + kIndex + index("blogposts-archive")), "");
}

TEST_F(ConfigTest, AnIndexWithoutTracksIsAFault) {
  EXPECT_THAT(faults(kSource + "[[index]]\nalias = \"a\"\nmapping = \"blogposts.json\"\nview = \"a.b\"\n"),
              HasSubstr("lockstep.toml:4: the index \"a\" tracks no table"));
}

TEST_F(ConfigTest, MappingFilesAreChecked) {
  const auto mapping = [&](const std::string& content) {
    write("blogposts.json", content);
    return faults(kSource + kIndex);
  };
  EXPECT_THAT(mapping("{\"mappings\": {\n  \"properties\": }\n}"),
              HasSubstr("lockstep.toml:7: blogposts.json:2:17: syntax error"));
  EXPECT_THAT(mapping("[]"), HasSubstr("blogposts.json is not a JSON object"));
  EXPECT_THAT(mapping(R"({"aliases": {}})"), HasSubstr("unknown key \"aliases\""));
  EXPECT_THAT(mapping(R"({"properties": {}})"), HasSubstr("put it into \"mappings\""));
  EXPECT_THAT(mapping(R"({"settings": []})"), HasSubstr("\"settings\" is not an object"));
  EXPECT_THAT(mapping(R"({"mappings": {"_meta": {"lockstep": {}}}})"), HasSubstr("lockstep's own"));
  EXPECT_EQ(mapping("{}"), "");
}

TEST(ConfigExamplesTest, EveryReadyConfigurationIsValid) {
  int loaded = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LOCKSTEP_SOURCE_DIR "/config")) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_NO_THROW(load_config(entry.path())) << entry.path();
    ++loaded;
  }
  EXPECT_GT(loaded, 0);
}

}  // namespace
}  // namespace lockstep
