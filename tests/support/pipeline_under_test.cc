#include "tests/support/pipeline_under_test.h"

#include <stdexcept>

#include "tests/support/eventually.h"
#include "tests/support/servers.h"
#include "tests/support/view_reader.h"

namespace lockstep::support {
namespace {

// A TOML string; nothing in these tests holds three single quotes.
std::string toml_text(const std::string& text) {
  return "'''" + text + "'''";
}

}  // namespace

const char* const kStoringMapping =
    R"({"settings": {"number_of_shards": 2, "number_of_replicas": 0, "refresh_interval": "-1"},
        "mappings": {"dynamic": false}})";

std::string track(const std::string& table, const std::vector<std::pair<std::string, std::string>>& keys) {
  std::string toml = "[[index.track]]\ntable = " + toml_text(table) + "\n";
  for (const auto& [key, value] : keys) toml += key + " = " + toml_text(value) + "\n";
  return toml;
}

PipelineUnderTest::PipelineUnderTest(PostgresDatabase& database, const std::string& elasticsearch)
    : database_(&database), elasticsearch_(elasticsearch.empty() ? elasticsearch_url() : elasticsearch) {}

PipelineUnderTest::PipelineUnderTest(const std::string& source_url, const std::string& elasticsearch)
    : elasticsearch_(elasticsearch.empty() ? elasticsearch_url() : elasticsearch), source_(source_url) {}

ElasticsearchIndex& PipelineUnderTest::add_index(const std::string& purpose, const std::string& view,
                                                 const std::string& tracks, const std::string& mapping) {
  Index& index = indices_[purpose];
  index = {std::make_unique<ElasticsearchIndex>(purpose), view, tracks, mapping};
  return *index.index;
}

void PipelineUnderTest::set_configured(const std::string& purpose, bool is_configured) {
  indices_.at(purpose).is_configured = is_configured;
}
void PipelineUnderTest::set_view(const std::string& purpose, const std::string& view) {
  indices_.at(purpose).view = view;
}
void PipelineUnderTest::set_tracks(const std::string& purpose, const std::string& tracks) {
  indices_.at(purpose).tracks = tracks;
}
void PipelineUnderTest::set_mapping(const std::string& purpose, const std::string& mapping) {
  indices_.at(purpose).mapping = mapping;
}

std::filesystem::path PipelineUnderTest::configuration() const {
  std::string toml = "pipeline = " + toml_text(name_) + "\n\n[source]\nurl = " + toml_text(source_url()) +
                     "\n" + "schema = " + toml_text(schema_) + "\n";
  if (database_ != nullptr && !database_->password().empty())
    toml += "password = " + toml_text(database_->password()) + "\n";
  toml +=
      more_of_source_ + "\n[elasticsearch]\nurls = [" + toml_text(elasticsearch_) + "]\n\n" + more_ + "\n";
  for (const auto& [purpose, index] : indices_) {
    if (!index.is_configured) continue;
    const auto mapping = folder_.write(purpose + ".json", index.mapping);
    toml += "\n[[index]]\nalias = " + toml_text(index.index->alias()) +
            "\nmapping = " + toml_text(mapping.filename().string()) + "\nview = " + toml_text(index.view) +
            "\n" + index.tracks;
  }
  return folder_.write("lockstep.toml", toml);
}

Completed PipelineUnderTest::lockstep(const std::string& verb, const std::vector<std::string>& arguments,
                                      std::chrono::milliseconds deadline) const {
  std::vector<std::string> all{verb, "-c", configuration().string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_program(lockstep_program(), all, {}, deadline);
}

std::string PipelineUnderTest::must(const std::string& verb, const std::vector<std::string>& arguments,
                                    std::chrono::milliseconds deadline) const {
  Completed completed = lockstep(verb, arguments, deadline);
  if (completed.exit_code != 0) {
    throw std::runtime_error("lockstep " + verb + " ended with " + std::to_string(completed.exit_code) +
                             ":\n" + completed.out + completed.err);
  }
  return completed.out;
}

std::unique_ptr<Program> PipelineUnderTest::start() const {
  return std::make_unique<Program>(lockstep_program(),
                                   std::vector<std::string>{"run", "-c", configuration().string()});
}

std::string PipelineUnderTest::difference(const std::string& purpose) {
  const auto connection = database_->connect();
  const Index& index = indices_.at(purpose);
  const std::string found = support::difference(read_view(*connection, index.view), index.index->documents());
  return found.empty() ? "" : purpose + ":\n" + found;
}

std::string PipelineUnderTest::difference() {
  std::string all;
  for (const auto& [purpose, index] : indices_) all += difference(purpose);
  return all;
}

std::string PipelineUnderTest::difference_within(std::chrono::milliseconds deadline) {
  std::string last;
  wait_until(
      [&] {
        last = difference();
        return last.empty();
      },
      deadline, std::chrono::milliseconds(50));
  return last;
}

std::string http_endpoint(const Program& service) {
  constexpr std::string_view kBefore = "on port ";  // "metrics, health and status on port N (…)"
  std::string port;
  wait_until(
      [&] {
        const std::string log = service.err();
        const std::size_t at = log.find(kBefore);
        if (at == std::string::npos) return false;
        const std::size_t begin = at + kBefore.size();
        port = log.substr(begin, log.find(' ', begin) - begin);
        return !port.empty();
      },
      kPatience);
  return "http://127.0.0.1:" + port;
}

}  // namespace lockstep::support
