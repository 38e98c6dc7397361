#include "replicator/service/health_probe.h"

#include <httplib.h>

#include "replicator/error.h"

namespace lockstep {
namespace {

constexpr int kPatienceSeconds = 2;
constexpr int kOk = 200;

// An address to connect to: a server that listens on all of them listens on the loopback one, too.
std::string reachable(std::string host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "0.0.0.0") return "127.0.0.1";
  return host == "::" ? "::1" : host;
}

std::string trouble(const std::string& listen, httplib::Error error) {
  if (error == httplib::Error::Connection) return "nothing listens on " + listen;
  return "the process that listens on " + listen + " does not answer within " +
         std::to_string(kPatienceSeconds) + " s as `lockstep run` does";
}

}  // namespace

ProbeAnswer ask_health(const std::string& listen, const std::string& path, const std::string& config_file) {
  const std::size_t colon = listen.rfind(':');
  httplib::Client client(reachable(listen.substr(0, colon)), std::stoi(listen.substr(colon + 1)));
  client.set_connection_timeout(kPatienceSeconds);
  client.set_read_timeout(kPatienceSeconds);
  const httplib::Result reply = client.Get(path.c_str());
  if (!reply) {
    throw Error(
        {"asking http://" + listen + path, trouble(listen, reply.error()),
         "start `lockstep run" + (config_file.empty() ? "" : " -c " + config_file) + "` on this machine"});
  }
  std::string text = reply->body;
  while (text.ends_with('\n')) text.pop_back();
  return {reply->status == kOk ? Verdict::kGood : Verdict::kBad, text};
}

}  // namespace lockstep
