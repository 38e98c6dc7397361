#include "replicator/source/postgres/define/exposure.h"

#include <libpq-fe.h>

#include <map>
#include <memory>
#include <string>

#include "replicator/config/text_checks.h"

namespace lockstep {
namespace {

using Options = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

void take(std::map<std::string, std::string>& parameters, const Options& options) {
  for (const PQconninfoOption* option = options.get(); option != nullptr && option->keyword != nullptr;
       ++option) {
    if (option->val != nullptr) parameters[option->keyword] = option->val;
  }
}

// As libpq will use them: the url's, else those of the environment, else its own defaults.
std::map<std::string, std::string> connection_parameters(const std::string& url) {
  std::map<std::string, std::string> parameters;
  take(parameters, Options(PQconndefaults(), PQconninfoFree));
  take(parameters, Options(PQconninfoParse(url.c_str(), nullptr), PQconninfoFree));
  return parameters;
}

bool is_on_this_machine(std::string_view host) {
  return host.empty() || host.front() == '/' || host.front() == '@' || is_loopback(host);
}

// Of a list with commas; empty: each is on this machine.
std::string first_other_machine(std::string_view hosts) {
  while (!hosts.empty()) {
    const std::string_view host = hosts.substr(0, hosts.find(','));
    if (!is_on_this_machine(host)) return std::string(host);
    hosts.remove_prefix(std::min(host.size() + 1, hosts.size()));
  }
  return {};
}

}  // namespace

std::vector<Finding> exposure_of_postgres(PostgresSession& session, const SourceConfig& source) {
  std::vector<Finding> findings;
  auto parameters = connection_parameters(source.url);
  const std::string host =
      first_other_machine(parameters["hostaddr"].empty() ? parameters["host"] : parameters["hostaddr"]);
  const std::string& mode = parameters["sslmode"];
  if (!host.empty() && mode != "verify-full" && mode != "verify-ca") {
    findings.push_back(
        {Finding::Severity::kWarning, "source.url",
         "with sslmode=" + mode + " lockstep does not verify that it is " + host +
             " that answers, and a machine in between can read and change everything",
         "add ?sslmode=verify-full&sslrootcert=FILE, the authority of the server's certificate"});
  }
  const pqxx::result superuser =
      session.ask("asking for the role",
                  "select current_user::text from pg_roles where rolname = current_user and rolsuper");
  if (!superuser.empty()) {
    findings.push_back(
        {Finding::Severity::kWarning, "",
         std::string("role ") + superuser[0][0].c_str() + " is a superuser, which is fine for a first try",
         "in production let the owner of the tables apply and another role run (docs/production.md): "
         "`lockstep plan --role NAME` prints its grants"});
  }
  return findings;
}

}  // namespace lockstep
