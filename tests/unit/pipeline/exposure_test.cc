#include "replicator/pipeline/exposure.h"

#include <gmock/gmock.h>

namespace lockstep {
namespace {

using testing::HasSubstr;

// Its warnings, one a line.
std::string warnings(const Config& config) {
  std::string lines;
  for (const Finding& finding : exposure_of(config)) {
    EXPECT_EQ(finding.severity, Finding::Severity::kWarning);
    EXPECT_FALSE(finding.remedy.empty());
    lines += to_line(finding) + "\n";
  }
  return lines;
}

TEST(ExposureTest, CredentialsInClearTextAreNamed) {
  Config config;
  config.elasticsearch.urls = {"https://es1:9200", "http://es2:9200"};
  EXPECT_EQ(warnings(config), "") << "there is no secret to read on the way";
  config.elasticsearch.username = "lockstep";
  EXPECT_THAT(warnings(config), HasSubstr("the password of lockstep goes to http://es2:9200 in clear text"));
  config.elasticsearch.username.clear();
  config.elasticsearch.api_key = Secret("key");
  EXPECT_THAT(warnings(config), HasSubstr("the API key goes to http://es2:9200"));
  config.elasticsearch.urls = {"http://localhost:9200", "http://127.0.0.1:9200/prefix", "http://[::1]:9200"};
  EXPECT_EQ(warnings(config), "") << "nobody stands between";
}

TEST(ExposureTest, HttpOnAllAddressesIsNamed) {
  Config config;
  for (const char* listen : {"127.0.0.1:9464", "192.0.2.1:9464", ""}) {
    config.http.listen = listen;
    EXPECT_EQ(warnings(config), "") << listen;
  }
  for (const char* listen : {"0.0.0.0:9464", "[::]:9464"}) {
    config.http.listen = listen;
    EXPECT_THAT(warnings(config), HasSubstr("there is no authentication; listen on 127.0.0.1")) << listen;
  }
}

}  // namespace
}  // namespace lockstep
