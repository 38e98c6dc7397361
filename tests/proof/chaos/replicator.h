// One `lockstep run` under supervision, with a proxy of its own in front of each server, so that it can be
// cut off alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/pipeline_under_test.h"
#include "tests/support/program.h"
#include "tests/support/tcp_proxy.h"

namespace lockstep::chaos {

class Replicator {
 public:
  /// Takes the pipeline's configuration, with the proxies in the places of its two servers. `folder` gets the
  /// configuration and what the process writes. REQUIRES: `pipeline` outlives it.
  Replicator(std::string name, const support::PipelineUnderTest& pipeline, const std::string& recorder_url,
             const std::filesystem::path& folder);

  /// Takes the pipeline's configuration as it is now, for the next start().
  void configure(const support::PipelineUnderTest& pipeline);

  const std::string& name() const { return name_; }
  support::TcpProxy& to_source() { return to_source_; }
  support::TcpProxy& to_elasticsearch() { return to_elasticsearch_; }

  void start();
  /// kill -9.
  void kill();
  void freeze();
  void thaw();
  /// SIGTERM; whether it ended in time, and by itself.
  bool terminate();

  bool started() const { return program_ != nullptr; }
  /// 0 when it isn't started.
  pid_t pid() const { return program_ == nullptr ? 0 : program_->pid(); }
  /// Started, and has ended without being asked to: with this output.
  bool has_ended(std::string& output);

  /// Leaderships that began, over all its processes.
  std::int64_t leaderships() const;

 private:
  void note_end();

  const std::string name_;
  const std::string recorder_url_;
  support::TcpProxy to_source_;
  support::TcpProxy to_elasticsearch_;
  std::filesystem::path configuration_;
  std::filesystem::path log_;
  std::unique_ptr<support::Program> program_;
  std::int64_t leaderships_ = 0;  // of the processes that have ended
};

}  // namespace lockstep::chaos
