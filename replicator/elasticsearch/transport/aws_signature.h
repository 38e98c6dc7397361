// AWS Signature Version 4, which Amazon OpenSearch Service wants on each request. libcurl signs too, but
// wrongly: up to its version 8.13 it neither sorts the parameters nor encodes the path and the query as AWS
// does, and which libcurl is loaded differs between systems. docs/decisions has the attempts.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/config/config.h"

namespace lockstep {

struct AwsCredentials {
  Secret access_key_id;
  Secret secret_access_key;
  Secret session_token;  ///< empty: none
  std::string region;    ///< "eu-central-1"
  std::string service;   ///< "es"
};

/// A request as it goes over the wire.
struct RequestToSign {
  std::string_view method;
  std::string_view host;  ///< as in the header Host
  std::string_view path;  ///< with query string, percent-encoded
  std::string_view body;  ///< as it is sent: compressed, if it is
};

/// The headers that sign the request, each "Name: value"; good for five minutes. The sender sends
/// `request.host` as Host.
std::vector<std::string> aws_signature(const AwsCredentials& credentials, const RequestToSign& request,
                                       std::chrono::system_clock::time_point now);

}  // namespace lockstep
