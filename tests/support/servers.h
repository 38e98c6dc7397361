// Which servers the tests run against. A server that isn't named is a failure that says how to start one,
// never a skip: a suite that passes without its servers has proved nothing.
#pragma once

#include <string>

namespace lockstep::support {

/// What LOCKSTEP_TEST_POSTGRESQL says: a superuser's URL of a PostgreSQL with max_prepared_transactions of 50
/// or more. Throws std::runtime_error with the command that starts one when it isn't set.
const std::string& postgresql_url();

/// What LOCKSTEP_TEST_ELASTICSEARCH says, such as http://127.0.0.1:9200. Throws in the same way.
const std::string& elasticsearch_url();

/// Host and port of an http URL. Throws std::runtime_error when it isn't one.
struct HostAndPort {
  std::string host;
  int port = 0;
};
HostAndPort host_and_port(const std::string& http_url);

}  // namespace lockstep::support
