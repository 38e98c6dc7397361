// Whether the generations are what fresh readings of the views give, and whether any version that went by
// contradicts "never backwards". Shares no code with the program.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/pipeline_under_test.h"
#include "tests/support/recording_proxy.h"

namespace lockstep::chaos {

struct Findings {
  std::int64_t differences = 0;                   ///< documents, when nothing is disturbed and nobody writes
  std::int64_t dead_letters = 0;                  ///< nothing in these views is refused
  std::vector<std::string> texts;                 ///< what was found, in words
  std::chrono::milliseconds longest_catch_up{0};  ///< from the end of the faults until all were equal
  int checks = 0;

  bool clean() const { return differences == 0 && dead_letters == 0 && texts.empty(); }
};

class Checker {
 public:
  /// `purposes` are the pipeline's indices. REQUIRES: `pipeline` and `recorder` outlive it.
  Checker(support::PipelineUnderTest& pipeline, support::RecordingProxy& recorder,
          std::vector<std::string> purposes);

  /// REQUIRES: nobody writes, nothing is disturbed, and somebody replicates. Waits until each index has been
  /// and each generation beside one has been equal to its own view; what isn't after kPatienceForCatchUp is a
  /// difference, and so is an index that nobody follows. Then it waits for the dead
  /// letters that lockstep tries again by itself.
  void check();

  const Findings& findings() const { return findings_; }

 private:
  struct Generation {
    std::string index;  ///< the alias, or a real index beside the one it stands for
    std::string view;
    auto operator<=>(const Generation&) const = default;
  };

  std::vector<Generation> generations();
  void compare();
  void find_leftovers();
  std::vector<std::string> leftovers();
  void count_dead_letters();
  void judge_history();

  support::PipelineUnderTest& pipeline_;
  support::RecordingProxy& recorder_;
  const std::vector<std::string> purposes_;
  support::ElasticsearchServer elasticsearch_;
  std::size_t violations_ = 0;  // that are among the texts
  Findings findings_;
};

}  // namespace lockstep::chaos
