// Somebody who gives the commands `lockstep reindex` and `apply`, by the program's own code, each in a
// process that may be killed.
#pragma once

#include <functional>
#include <string>

#include "tests/proof/simulation/fibers.h"
#include "tests/proof/simulation/network.h"
#include "tests/proof/simulation/schedule.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::simulation {

class Reindexer {
 public:
  /// All must outlive this. `process`: of its commands.
  struct Parts {
    Fibers& fibers;
    fake::World& world;
    Network& network;
    ProcessNumber process;
    std::function<void(const Event&, const std::string&)> begins;
    std::function<void(const std::string&)> note;
  };
  explicit Reindexer(Parts parts) : parts_(std::move(parts)) {}

  /// Gives a command, and waits until it has ended or is dead.
  void give_one(Event& event);

  /// So many times it has forced what an alias moved by hand would hinder.
  int forced() const { return forced_; }

  /// Ends what is left, now that nothing disturbs. Empty: there is no reindex any more; else why there is.
  std::string finish();

 private:
  void give(Event& event, const std::string& alias);
  void start(Event& event, Source& source, const std::string& alias);
  void want(Source& source, ReindexWish wish, const std::string& alias, Reindexes::Force force);
  void apply(Event& event);

  const Parts parts_;
  int forced_ = 0;
};

}  // namespace lockstep::simulation
