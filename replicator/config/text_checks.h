// Checks texts of a configuration: one function for each kind of text, without files or network.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// A fault and its remedy; both are empty if there is none.
struct TextFault {
  std::string what;
  std::string remedy;
};

/// Lower-case letters, digits, '_' and '-', at most 40.
TextFault pipeline_name_fault(const std::string& text);

/// "postgresql://…", "postgres://…" or "sqlite:PATH".
TextFault source_url_fault(const std::string& text);

/// A PostgreSQL schema that can be Lockstep's own.
TextFault schema_fault(const std::string& text);

/// "http://host[:port][/prefix]" or https, without credentials.
TextFault elasticsearch_url_fault(const std::string& text);

/// "eu-central-1": lower-case letters, digits and '-'.
TextFault aws_region_fault(const std::string& text);

/// A name that Elasticsearch accepts for an index.
TextFault index_name_fault(const std::string& text);

/// An index name with room for "-000001-w", an alias of one index.
TextFault alias_fault(const std::string& text);

/// "host:port", "[address]:port".
TextFault listen_fault(const std::string& text);

/// The host of "http://host:9200/prefix" or of "host:port", without brackets.
std::string_view host_of(std::string_view url_or_address);

/// Whether this host can only be this machine: "localhost", "127.0.0.1", "::1".
bool is_loopback(std::string_view host);

/// Whether an SQL name has a schema ("blog.users", "\"a.b\".c"). Dots in quotes do not count.
bool schema_qualified(std::string_view name);

}  // namespace lockstep
