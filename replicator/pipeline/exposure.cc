#include "replicator/pipeline/exposure.h"

#include <string>
#include <utility>

#include "replicator/config/credentials.h"
#include "replicator/config/text_checks.h"

namespace lockstep {
namespace {

// The secrets that a reader on the way learns from a request; empty: there are no credentials.
std::string sent_with_each_request(const ElasticsearchConfig& config) {
  if (!config.username.empty()) return "the password of " + config.username;
  if (!config.api_key.empty()) return "the API key";
  if (!config.bearer_token.empty()) return "the token";
  if (!config.aws_session_token.empty()) return "the session token";
  return {};
}

bool is_on_all_addresses(std::string_view host) {
  return host == "0.0.0.0" || host == "::";
}

}  // namespace

std::vector<Finding> exposure_of(const Config& config) {
  std::vector<Finding> findings;
  const auto warn = [&](std::string place, std::string message, std::string remedy) {
    findings.push_back(
        {Finding::Severity::kWarning, std::move(place), std::move(message), std::move(remedy)});
  };
  for (const std::filesystem::path& file : secrets_open_to_all(config)) {
    warn(file.string(), "every user of this machine can read the secret in it",
         "give it to the service's group: chgrp lockstep " + file.string() + " && chmod 0640 " +
             file.string());
  }
  const std::string secret = sent_with_each_request(config.elasticsearch);
  for (const std::string& url : config.elasticsearch.urls) {
    if (secret.empty() || !url.starts_with("http://") || is_loopback(host_of(url))) continue;
    warn("elasticsearch.urls", secret + " goes to " + url + " in clear text",
         "turn TLS on there, and write https:// and ca_file");
  }
  if (is_on_all_addresses(host_of(config.http.listen))) {
    warn("http.listen",
         "all that reach this machine can read the pipeline's status: there is no authentication",
         "listen on 127.0.0.1 or on the monitoring's network; in a container of its own it is as it should "
         "be");
  }
  return findings;
}

}  // namespace lockstep
