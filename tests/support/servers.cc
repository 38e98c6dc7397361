#include "tests/support/servers.h"

#include <cstdlib>
#include <stdexcept>

namespace lockstep::support {
namespace {

std::string required(const char* variable, const char* command) {
  // The environment is read once, before any thread changes it.
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  if (value == nullptr || *value == '\0') {
    throw std::runtime_error(std::string(variable) +
                             " is not set, and this test needs that server; start one with\n  export " +
                             variable + "=$(" + command + ")\nor run everything with scripts/test");
  }
  return value;
}

}  // namespace

const std::string& postgresql_url() {
  static const std::string url =
      required("LOCKSTEP_TEST_POSTGRESQL", "scripts/postgresql start --data /tmp/lockstep-postgresql");
  return url;
}

const std::string& elasticsearch_url() {
  static const std::string url =
      required("LOCKSTEP_TEST_ELASTICSEARCH",
               "scripts/engine start elasticsearch-7.10 --data /tmp/lockstep-elasticsearch");
  return url;
}

HostAndPort host_and_port(const std::string& http_url) {
  const std::string scheme = "http://";
  if (!http_url.starts_with(scheme)) {
    throw std::runtime_error("'" + http_url + "' is not an http:// URL; the tests speak plain HTTP");
  }
  std::string rest = http_url.substr(scheme.size());
  rest = rest.substr(0, rest.find('/'));
  const auto colon = rest.rfind(':');
  if (colon == std::string::npos) return {rest, 80};
  return {rest.substr(0, colon), std::stoi(rest.substr(colon + 1))};
}

}  // namespace lockstep::support
