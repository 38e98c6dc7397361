// A SQLite file has no reindexes yet: its indices have one generation each.
#pragma once

#include <stdexcept>

#include "replicator/error.h"
#include "replicator/source/reindexes.h"

namespace lockstep {

class SqliteReindexes final : public Reindexes {
 public:
  std::vector<Reindex> all() override { return {}; }
  /// Throws UsageError.
  bool start(const std::string& alias, const std::string& /*mapping*/,
             std::chrono::seconds /*keep*/) override {
    throw UsageError("reindexing " + alias +
                     " is not possible with a SQLite source yet; configure a second pipeline with another "
                     "name and alias, and let searches use that alias when it is filled");
  }
  bool want(ReindexId, ReindexWish, Force) override { return false; }
  bool advance(const Reindex&, Epoch, const ReindexStep&) override { throw none(); }
  void note(ReindexId, const std::string&) override { throw none(); }
  std::int64_t refused_beside(const Reindex&) override { throw none(); }

 private:
  static std::logic_error none() { return std::logic_error("a SQLite source has no reindexes"); }
};

}  // namespace lockstep
