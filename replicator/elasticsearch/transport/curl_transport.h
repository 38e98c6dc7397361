// HTTP and HTTPS through libcurl: kept-alive connections to one or several equal servers. The only file that
// uses curl; it turns curl's codes into TransportError.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/transport/http_transport.h"

namespace lockstep {

/// Makes transports for the configured servers. Each begins with another url and then takes them in turn. It
/// avoids a url that does not answer for some seconds, and sends a request that reached no server to the next
/// one. Messages name the url; nothing shows a secret.
///
/// The factory is thread-safe and may outlive `config`. Throws Error for a url that is not http(s)://host….
/// Ignores proxies and .netrc files of the environment: only the configuration counts.
std::function<std::unique_ptr<HttpTransport>()> make_transport_factory(const ElasticsearchConfig& config);

/// The libraries behind it, as they are loaded: "libcurl/7.88.1 OpenSSL/3.0.17 …".
std::string transport_libraries();

}  // namespace lockstep
