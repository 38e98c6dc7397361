// Shared by the tests of the Elasticsearch client: the real engine, and an alias for each test whose indices
// are deleted at the end.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/servers.h"

namespace lockstep {

class ElasticsearchContract : public testing::Test {
 protected:
  const std::string& alias() const { return index_.alias(); }
  ElasticsearchClient& client() { return client_; }
  support::ElasticsearchServer& server() { return index_.server(); }

  BulkWriter::TransportFactory transports() const { return make_transport_factory(config()); }
  BulkWriter::TransportFactory compressing_transports() const {
    ElasticsearchConfig compressing = config();
    compressing.compression = ElasticsearchConfig::Compression::kGzip;
    return make_transport_factory(compressing);
  }

  /// A mapping file's content and the rest of an index as a configuration would want it.
  DesiredIndex desired(const std::string& mapping) const {
    return {alias(), "search.things", parse_mapping("mapping.json", mapping), "contract", "identity-1"};
  }

  /// Plans and applies; returns what was planned.
  IndexPlan apply(const DesiredIndex& index) {
    IndexPlan plan = plan_index(client_, index);
    apply_index_plan(client_, index, plan);
    return plan;
  }

  /// Everything that `check` must not change.
  nlohmann::json visible() {
    return {server().expect("GET", "/*/_settings?expand_wildcards=open,closed&filter_path=" + alias() + "*"),
            server().expect("GET", "/_index_template?filter_path=index_templates.name")};
  }

 private:
  static ElasticsearchConfig config() {
    ElasticsearchConfig config;
    config.urls = {support::elasticsearch_url()};
    return config;
  }

  support::ElasticsearchIndex index_{"contract"};
  ElasticsearchClient client_{make_transport_factory(config())()};
};

}  // namespace lockstep
