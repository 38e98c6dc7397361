// Watches a reindex that the service does, with a progress bar. The work continues without it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "replicator/cli/text/progress_line.h"
#include "replicator/clock.h"
#include "replicator/config/config.h"
#include "replicator/process/stop_signals.h"
#include "replicator/service/rate_meter.h"
#include "replicator/source/pipeline_status.h"

namespace lockstep {

class ReindexWatch {
 public:
  /// What is watched: for a pipeline that no process leads, and for the advice after a signal.
  enum class Of {
    kNew,   ///< a reindex: waits for a leader
    kWish,  ///< a wish for one that exists, which is stored: without any process there is nothing to watch
  };

  /// How the watching ends.
  struct End {
    enum class Kind { kSo, kOver, kUnled } kind = Kind::kSo;
    ReindexStatus status = {};  ///< with kSo
    std::string reason = {};    ///< with kUnled: why no process leads
  };

  ReindexWatch(const Config& config, Of of);

  /// Until the reindex of the alias is so, or is over and nothing is left of it, or, with kWish, no process
  /// runs that could carry the wish out. Throws Error if it fails, or if a signal ends the watching.
  End until(const std::string& alias, const std::function<bool(const ReindexStatus&)>& is_so);

 private:
  std::optional<PipelineStatus> read(const std::string& alias);
  void show(const ReindexStatus& reindex, const PipelineStatus& status);
  /// Shows `text` once, until it changes.
  void tell(std::string& told, const std::string& text);

  const Of of_;
  const StopSignals signals_;
  std::unique_ptr<StatusReader> status_;
  ProgressLine line_;
  RateMeter rate_;
  std::string told_reason_;
  std::string told_unled_;
  std::optional<SteadyTime> unled_since_;
};

}  // namespace lockstep
