#include "replicator/service/http_endpoint.h"

#include <cerrno>
#include <cstring>
#include <optional>

#include "replicator/error.h"
#include "replicator/service/health.h"
#include "replicator/service/http_server.h"
#include "replicator/service/metrics.h"
#include "replicator/service/wait_endpoint.h"

namespace lockstep {
namespace {

constexpr int kSpareWorkers = 2;  // answer that too many wait

const WaitEndpoint::Reply kHasBody{
    400, "{\"applied\":false,\"error\":\"write the parameters in the url, behind a question mark\"}\n"};

// Nothing but our own files, in no frame, and nothing kept.
const httplib::Headers kPageHeaders = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
     "form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
};

const char* media_type(std::string_view file) {
  if (file.ends_with(".css")) return "text/css; charset=utf-8";
  if (file.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "text/html; charset=utf-8";
}

/// Reads the beginning of the body, too.
bool has_body(const httplib::Request& request, const httplib::ContentReader& read) {
  if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding")) return false;
  bool is_empty = true;
  const bool complete = read([&](const char*, std::size_t bytes) {
    is_empty = bytes == 0;
    return is_empty;
  });
  return !complete || !is_empty;
}

}  // namespace

class HttpEndpoint::Impl {
 public:
  Impl(const std::string& listen, std::string pipeline, const ProgressBoard& board, const Clock& clock,
       Parts parts)
      : pipeline_(std::move(pipeline)), board_(board), clock_(clock), certificates_(parts.certificates) {
    if (parts.waiter != nullptr) wait_.emplace(*parts.waiter);
    configure();
    if (parts.page != nullptr) serve_page(*parts.page);
    bind(listen);
    server_.serve(kSpareWorkers + (wait_ ? WaitEndpoint::kMostWaiters : 0));
  }

  ~Impl() {
    if (wait_) wait_->stop();
    server_.stop();
  }

  int port() const { return port_; }

 private:
  void configure() {
    server_.Get("/metrics", [this](const httplib::Request&, httplib::Response& reply) {
      reply.set_content(
          metrics_text(pipeline_, board_.read(),
                       certificates_ == nullptr ? CertificateExpiries{} : certificates_->expiries(),
                       clock_.now()),
          "text/plain; version=0.0.4; charset=utf-8");
    });
    server_.Get("/healthz",
                [this](const httplib::Request&, httplib::Response& reply) { answer(reply, &Health::alive); });
    server_.Get("/readyz",
                [this](const httplib::Request&, httplib::Response& reply) { answer(reply, &Health::ready); });
    if (wait_) {
      // Reads the body itself: the server would wait for one if the client gives no length.
      server_.Post("/wait", [this](const httplib::Request& request, httplib::Response& reply,
                                   const httplib::ContentReader& read) {
        answer(reply, has_body(request, read) ? kHasBody : wait_->answer(request.params));
      });
      server_.Get("/wait", [](const httplib::Request&, httplib::Response& reply) {
        reply.set_header("Allow", "POST");
        answer(reply, {405, "{\"applied\":false,\"error\":\"send it with POST\"}\n"});
      });
    }
  }

  void serve_page(const StatusPage& page) {
    for (const EmbeddedFile& file : status_page_files()) {
      const std::string path = file.name == "index.html" ? "/" : "/" + std::string(file.name);
      server_.Get(path.c_str(), [file](const httplib::Request&, httplib::Response& reply) {
        reply.headers.insert(kPageHeaders.begin(), kPageHeaders.end());
        reply.set_content(std::string(file.content), media_type(file.name));
      });
    }
    server_.Get("/status.json", [&page](const httplib::Request&, httplib::Response& reply) {
      reply.headers.insert(kPageHeaders.begin(), kPageHeaders.end());
      reply.set_content(page.json(), "application/json");
    });
  }

  void answer(httplib::Response& reply, Verdict Health::*verdict) const {
    const Health health = judge(board_.read(), clock_.now());
    reply.status = health.*verdict == Verdict::kGood ? 200 : 503;
    reply.set_content(health.reason + "\n", "text/plain; charset=utf-8");
  }

  static void answer(httplib::Response& reply, const WaitEndpoint::Reply& answer) {
    reply.status = answer.status;
    if (answer.status == 503) reply.set_header("Retry-After", "1");
    reply.set_content(answer.body, "application/json");
  }

  void bind(const std::string& listen) {
    const std::size_t colon = listen.rfind(':');
    std::string host = listen.substr(0, colon);
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    port_ = std::stoi(listen.substr(colon + 1));
    errno = 0;
    port_ = server_.bind(host, port_);
    if (port_ != 0) return;
    if (errno == EADDRINUSE) {
      throw UsageError("serving HTTP on " + listen +
                       ": another process listens there; give each process on this host its own port in "
                       "[http] listen");
    }
    throw Error({"serving HTTP on " + listen, errno == 0 ? "no such address" : std::strerror(errno),
                 "let [http] listen name a free address of this machine"});
  }

  const std::string pipeline_;
  const ProgressBoard& board_;
  const Clock& clock_;
  const CertificateWatch* const certificates_;
  std::optional<WaitEndpoint> wait_;
  int port_ = 0;
  HttpServer server_;  // its threads use everything above
};

HttpEndpoint::HttpEndpoint(const std::string& listen, std::string pipeline, const ProgressBoard& board,
                           const Clock& clock, Parts parts)
    : impl_(std::make_unique<Impl>(listen, std::move(pipeline), board, clock, parts)) {}

HttpEndpoint::~HttpEndpoint() = default;

int HttpEndpoint::port() const {
  return impl_->port();
}

}  // namespace lockstep
