// The certificates of https servers, looked at before they expire.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "replicator/config/config.h"

namespace lockstep {

struct ServerCertificate {
  std::string server;  ///< "es1:9200", without user and password
  /// When the first certificate of those expires that the server shows.
  std::chrono::system_clock::time_point expires;
};

/// Shakes hands with the server of the url and leaves: sends no request and no secret. Takes untrusted
/// certificates, too, since the operator wants to learn of an expired one. None: the url is http. Throws
/// Error if there is no server, or no handshake.
std::optional<ServerCertificate> server_certificate(const std::string& url,
                                                    const ElasticsearchConfig& config);

}  // namespace lockstep
