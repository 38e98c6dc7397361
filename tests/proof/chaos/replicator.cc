#include "tests/proof/chaos/replicator.h"

#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "tests/support/servers.h"

namespace lockstep::chaos {
namespace {

using support::HostAndPort;
using support::Program;

// SIGTERM ends it within five seconds; a slow machine may take longer to start a process that is at once to
// end.
constexpr std::chrono::seconds kPatienceForEnd{15};

void replace(std::string& text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  if (at == std::string::npos) throw std::runtime_error("the configuration does not name " + what);
  text.replace(at, what.size(), with);
}

HostAndPort source_of(const support::PipelineUnderTest& pipeline) {
  const std::string url = pipeline.source_url();
  return support::host_and_port("http://" + url.substr(url.find('@') + 1));
}

std::int64_t count(const std::string& text, const std::string& what) {
  std::int64_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

}  // namespace

Replicator::Replicator(std::string name, const support::PipelineUnderTest& pipeline,
                       const std::string& recorder_url, const std::filesystem::path& folder)
    : name_(std::move(name)),
      recorder_url_(recorder_url),
      to_source_(source_of(pipeline)),
      to_elasticsearch_(support::host_and_port(recorder_url)),
      configuration_(pipeline.configuration().parent_path() / (name_ + ".toml")),
      log_(folder / (name_ + ".log")) {
  configure(pipeline);
}

void Replicator::configure(const support::PipelineUnderTest& pipeline) {
  std::stringstream text;
  text << std::ifstream(pipeline.configuration()).rdbuf();
  std::string toml = text.str();
  const std::string source = ":" + std::to_string(source_of(pipeline).port) + "/";
  replace(toml, source, ":" + std::to_string(to_source_.port()) + "/");
  replace(toml, recorder_url_, "http://127.0.0.1:" + std::to_string(to_elasticsearch_.port()));
  // At once: it may be started meanwhile.
  const std::filesystem::path written = configuration_.string() + ".new";
  std::ofstream(written) << toml;
  std::filesystem::rename(written, configuration_);
}

void Replicator::start() {
  program_ = std::make_unique<Program>(support::lockstep_program(),
                                       std::vector<std::string>{"run", "-c", configuration_.string()});
}

void Replicator::note_end() {
  const std::string output = program_->err();
  leaderships_ += count(output, "leading pipeline");
  std::ofstream(log_, std::ios::app) << "--- process " << program_->pid() << '\n' << output;
  program_.reset();
}

void Replicator::kill() {
  if (program_ == nullptr) return;
  program_->kill();
  note_end();
}

void Replicator::freeze() {
  if (program_ != nullptr) program_->signal(SIGSTOP);
}
void Replicator::thaw() {
  if (program_ != nullptr) program_->signal(SIGCONT);
}

bool Replicator::terminate() {
  if (program_ == nullptr) return true;
  program_->signal(SIGTERM);
  const bool ended = program_->wait(kPatienceForEnd).has_value();
  kill();
  return ended;
}

bool Replicator::has_ended(std::string& output) {
  if (program_ == nullptr || program_->running()) return false;
  output = "exit code " + std::to_string(program_->wait(std::chrono::seconds(1)).value_or(-1)) + ": " +
           program_->err();
  note_end();
  return true;
}

std::int64_t Replicator::leaderships() const {
  return leaderships_ + (program_ == nullptr ? 0 : count(program_->err(), "leading pipeline"));
}

}  // namespace lockstep::chaos
