// CPU and memory of other processes on this machine, from /proc.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/pipeline_under_test.h"

namespace lockstep::support {

/// CPU seconds, user and system, that a process with all its threads has used. 0 when it is gone.
double cpu_seconds(pid_t pid);

/// The same of a server of processes: `pid`, its children, and those of its children that have ended.
double cpu_seconds_with_children(pid_t pid);

/// The most memory that a process has had resident (VmHWM), in MiB; 0 when it is gone.
double peak_memory(pid_t pid);

/// 0 when the process is gone.
pid_t parent_of(pid_t pid);

/// A run of the program, from its start to its end.
struct MeasuredRun {
  double seconds = 0;
  double cpu_seconds = 0;
  double peak_memory = 0;  ///< MiB
  std::string out;
};

/// Runs `lockstep COMMAND -c FILE ARGUMENTS…` to its end. Throws std::runtime_error with its output unless it
/// ends with 0 within `deadline`.
MeasuredRun measured_run(const PipelineUnderTest& pipeline, const std::string& verb,
                         const std::vector<std::string>& arguments, std::chrono::milliseconds deadline);

}  // namespace lockstep::support
