// A PostgreSQL server of a test's own, to be crashed.
#pragma once

#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace lockstep::support {

class PrivatePostgres {
 public:
  /// Starts one with scripts/postgresql, with these settings ("name=value").
  explicit PrivatePostgres(const std::vector<std::string>& settings = {});
  ~PrivatePostgres();
  PrivatePostgres(const PrivatePostgres&) = delete;
  PrivatePostgres& operator=(const PrivatePostgres&) = delete;

  /// A superuser's; stays the same over crashes.
  const std::string& url() const { return url_; }

  /// Ends it as a crash would, without a checkpoint, and starts it again: it recovers from its WAL.
  void crash();

 private:
  std::string control(const std::string& verb, const std::vector<std::string>& arguments);

  TemporaryFolder folder_;
  std::vector<std::string> settings_;
  std::string url_;
};

}  // namespace lockstep::support
