// Shows the progress of a pipeline that catches up: a bar on a terminal, log lines elsewhere.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>

#include "replicator/pipeline/progress.h"

namespace lockstep {

/// "[#########           ] 12,345 of 48,000 documents  25 %  3,400/s  10.4 s left", or the status line if it
/// is not known how much there is to do. `columns` is the width of the terminal.
std::string catch_up_line(const ReplicationProgress& progress, double documents_per_second, int columns);

/// The whole status line if it has a reason, other than `told`, that does not fit into `columns`; otherwise
/// empty. A cut reason may lack the important part, the name of a privilege for instance.
std::string long_reason(const ReplicationProgress& progress, const std::string& told, int columns);

/// Shows from construction to destruction.
class CatchUpDisplay {
 public:
  /// `board` must outlive this.
  explicit CatchUpDisplay(const ProgressBoard& board);
  ~CatchUpDisplay();
  CatchUpDisplay(const CatchUpDisplay&) = delete;
  CatchUpDisplay& operator=(const CatchUpDisplay&) = delete;

 private:
  void run(const std::stop_token& stop) const;

  const ProgressBoard& board_;
  std::jthread thread_;  // uses the above
};

}  // namespace lockstep
