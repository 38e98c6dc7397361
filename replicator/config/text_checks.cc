#include "replicator/config/text_checks.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace lockstep {
namespace {

// Elasticsearch's limit on the length of an index name, in bytes.
constexpr std::size_t kMaxIndexName = 255;
// Indices are called by their alias and a number.
constexpr std::string_view kIndexSuffix = "-000001-w";
// PostgreSQL cuts longer identifiers.
constexpr std::size_t kMaxIdentifier = 63;
constexpr std::size_t kMaxPipelineName = 40;

bool lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

std::optional<int> parse_port(std::string_view text) {
  int port = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port < 0 || port > 65'535)
    return std::nullopt;
  return port;
}

// Splits "host:port" or "[address]:port"; none for anything else. The port may be missing.
struct HostPort {
  std::string_view host;
  std::optional<std::string_view> port;
};
std::optional<HostPort> split_host(std::string_view text) {
  std::size_t host_end = 0;
  if (text.starts_with('[')) {
    host_end = text.find(']');
    if (host_end == std::string_view::npos) return std::nullopt;
    ++host_end;
  } else {
    host_end = std::min(text.find(':'), text.size());
  }
  const std::string_view host = text.substr(0, host_end);
  const std::string_view rest = text.substr(host_end);
  if (rest.empty()) return HostPort{host, std::nullopt};
  if (!rest.starts_with(':')) return std::nullopt;
  return HostPort{host, rest.substr(1)};
}

bool valid_host(std::string_view host) {
  if (host.starts_with('[')) return host.size() > 2;
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_';
  });
}

}  // namespace

TextFault pipeline_name_fault(const std::string& text) {
  const bool characters =
      std::all_of(text.begin(), text.end(), [](char c) { return lower_or_digit(c) || c == '_' || c == '-'; });
  if (characters && !text.empty() && lower_or_digit(text.front()) && text.size() <= kMaxPipelineName)
    return {};
  return {"\"" + text + "\" cannot name a pipeline",
          "use up to 40 lower-case letters, digits, \"_\" and \"-\", beginning with a letter or digit"};
}

TextFault source_url_fault(const std::string& text) {
  const std::string_view url = text;
  if (url.starts_with("postgresql://") || url.starts_with("postgres://")) return {};
  if (const std::size_t parameters = url.find('?'); url.starts_with("sqlite:") &&
                                                    parameters != std::string::npos &&
                                                    url.find('=', parameters) != std::string::npos) {
    return {"\"" + text + "\" has parameters, and the url of a SQLite file takes none",
            "write \"" + text.substr(0, parameters) + "\""};
  }
  if (url.starts_with("sqlite:") && url.size() > std::string_view("sqlite:").size()) return {};
  return {"the source's url is neither PostgreSQL's nor SQLite's",
          "write \"postgresql://user@host/database\" or \"sqlite:/path/to/file\""};
}

TextFault schema_fault(const std::string& text) {
  if (text.empty() || text.size() > kMaxIdentifier) {
    return {"a schema's name has 1 to 63 bytes",
            "name a schema that is lockstep's own, such as \"lockstep\""};
  }
  if (text.starts_with("pg_") || text == "information_schema" || text == "public") {
    return {"\"" + text + "\" cannot be lockstep's own schema, which `remove` drops",
            "name another one, such as \"lockstep\""};
  }
  return {};
}

TextFault elasticsearch_url_fault(const std::string& text) {
  const std::string remedy = "write \"https://host:9200\"";
  std::string_view rest = text;
  if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else {
    return {"an Elasticsearch url begins with \"http://\" or \"https://\"", remedy};
  }
  if (rest.find('@') != std::string_view::npos) {
    return {"an Elasticsearch url holds no credentials", "write username and password_file, or api_key_file"};
  }
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return {"\"" + text + "\" has a query or a fragment", remedy};
  }
  const auto host = split_host(rest.substr(0, std::min(rest.find('/'), rest.size())));
  if (!host || !valid_host(host->host)) return {"\"" + text + "\" has no valid host", remedy};
  if (host->port && parse_port(*host->port).value_or(0) == 0)
    return {"\"" + text + "\" has no valid port", remedy};
  return {};
}

TextFault aws_region_fault(const std::string& text) {
  const bool characters =
      std::all_of(text.begin(), text.end(), [](char c) { return lower_or_digit(c) || c == '-'; });
  if (characters) return {};
  return {"\"" + text + "\" is not a region of AWS", "write it like \"eu-central-1\""};
}

TextFault index_name_fault(const std::string& text) {
  const std::string what = "\"" + text + "\" cannot name an index of Elasticsearch: ";
  if (text.empty()) return {"an index's name is empty", "name it"};
  if (text == "." || text == "..") return {what + "it is a path", "choose another name"};
  if (text.find_first_of("-_+") == 0)
    return {what + "it begins with \"-\", \"_\" or \"+\"", "begin with a letter or digit"};
  if (text.find_first_of("\\/*?\"<>| ,#:\t\r\n") != std::string::npos) {
    return {what + R"(it has a space or one of \ / * ? " < > | , # :)",
            "use lower-case letters, digits, \"_\", \"-\" and \".\""};
  }
  const bool upper = std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (upper) return {what + "it has capitals", "write it in lower case"};
  if (text.size() > kMaxIndexName) return {what + "it is longer than 255 bytes", "choose a shorter one"};
  return {};
}

TextFault alias_fault(const std::string& text) {
  TextFault fault = index_name_fault(text);
  if (fault.what.empty() && text.size() + kIndexSuffix.size() > kMaxIndexName) {
    fault = {"the alias leaves no room for \"-000001-w\" in the 255 bytes of an index's name",
             "choose a shorter one"};
  }
  return fault;
}

TextFault listen_fault(const std::string& text) {
  const auto host = split_host(text);
  if (host && valid_host(host->host) && host->port && parse_port(*host->port)) return {};
  return {"\"" + text + "\" is not a host and a port", "write \"127.0.0.1:9464\""};
}

std::string_view host_of(std::string_view url_or_address) {
  std::string_view rest = url_or_address;
  if (const std::size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
    rest.remove_prefix(scheme + 3);
  }
  const auto split = split_host(rest.substr(0, rest.find('/')));
  std::string_view host = split ? split->host : std::string_view{};
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return host;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

bool schema_qualified(std::string_view name) {
  bool quoted = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '"') quoted = !quoted;
    if (name[i] == '.' && !quoted) return i > 0 && i + 1 < name.size();
  }
  return false;
}

}  // namespace lockstep
