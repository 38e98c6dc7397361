// HTTP and HTTPS through libcurl: kept-alive connections to one or several equal servers. The only place that
// knows curl, and where its codes become TransportError.
#pragma once

#include <functional>
#include <memory>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/transport/http_transport.h"

namespace lockstep {

/// Makes transports for the configured servers. Each begins with another url and then takes them in turn; a
/// url that does not answer is left alone for some seconds in favour of the others, and a request that
/// reached nobody goes to the next one. Messages name the url; neither they nor anything else shows a secret.
///
/// The factory is thread-safe and may outlive `config`. Throws Error for a url that is not http(s)://host….
/// Proxies and .netrc files of the environment are not used: the configuration says all.
std::function<std::unique_ptr<HttpTransport>()> make_transport_factory(const ElasticsearchConfig& config);

}  // namespace lockstep
