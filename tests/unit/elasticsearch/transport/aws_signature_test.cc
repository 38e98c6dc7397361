#include "replicator/elasticsearch/transport/aws_signature.h"

#include <gmock/gmock.h>

namespace lockstep {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// 2013-05-24 00:00:00 UTC, as in the examples of AWS's documentation.
constexpr std::chrono::system_clock::time_point kThen{std::chrono::seconds{1'369'353'600}};

AwsCredentials example() {
  return {Secret("AKIAIOSFODNN7EXAMPLE"),
          Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
          {},
          "us-east-1",
          "s3"};
}

std::vector<std::string> signed_get(std::string_view path) {
  return aws_signature(example(), {"GET", "examplebucket.s3.amazonaws.com", path, ""}, kThen);
}

TEST(AwsSignatureTest, IsWhatAwsHasPublished) {
  EXPECT_THAT(
      signed_get("/?lifecycle"),
      ElementsAre("X-Amz-Date: 20130524T000000Z",
                  "X-Amz-Content-Sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                  "Authorization: AWS4-HMAC-SHA256 "
                  "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                  "SignedHeaders=host;x-amz-content-sha256;x-amz-date, "
                  "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
  EXPECT_THAT(signed_get("/?max-keys=2&prefix=J"),
              Contains(HasSubstr("=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")));
}

TEST(AwsSignatureTest, OrderAndSpellingOfTheParametersDoNotMatter) {
  EXPECT_EQ(signed_get("/?prefix=J&max-keys=2"), signed_get("/?max-keys=2&prefix=J"));
  EXPECT_EQ(signed_get("/?filter_path=a,b*"), signed_get("/?filter_path=a%2Cb%2a"));
  EXPECT_EQ(signed_get("/?refresh"), signed_get("/?refresh="));
  EXPECT_NE(signed_get("/?a=50%"), signed_get("/?a=50"));
}

TEST(AwsSignatureTest, ThePathIsSignedAsItIsSpelled) {
  EXPECT_NE(signed_get("/a%2Fb"), signed_get("/a/b"));
  EXPECT_NE(signed_get("/a*"), signed_get("/a%2A"));
}

TEST(AwsSignatureTest, ASessionTokenIsSentAndSigned) {
  AwsCredentials credentials = example();
  credentials.session_token = Secret("token");
  const auto headers = aws_signature(credentials, {"GET", "host:9200", "/", ""}, kThen);
  EXPECT_THAT(headers, Contains("X-Amz-Security-Token: token"));
  EXPECT_THAT(headers, Contains(HasSubstr("x-amz-date;x-amz-security-token,")));
  for (const std::string& header : headers) EXPECT_THAT(header, Not(HasSubstr("wJalr")));
}

}  // namespace
}  // namespace lockstep
