#include "replicator/service/certificate_watch.h"

#include <gtest/gtest.h>

#include <atomic>

#include "replicator/error.h"
#include "tests/support/eventually.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::wait_until;

constexpr std::chrono::system_clock::time_point kExpires{std::chrono::hours(500'000)};

TEST(CertificateWatchTest, ItKnowsEachServersAndTriesOneThatIsAwayAgain) {
  std::atomic<bool> is_away = true;
  const auto look = [&](const std::string& url) -> std::optional<ServerCertificate> {
    if (url == "http://plain") return std::nullopt;
    if (url == "https://away" && is_away) throw Error({"looking at a certificate", "nobody answers"});
    return ServerCertificate{url, kExpires};
  };
  const CertificateWatch watch(
      [] {
        return std::vector<std::string>{"http://plain", "https://away", "https://here"};
      },
      look, {std::chrono::hours(1), milliseconds(1)});
  ASSERT_TRUE(wait_until([&] { return watch.expiries().contains("https://here"); }, seconds(10)));
  EXPECT_FALSE(watch.expiries().contains("https://away"));
  is_away = false;
  ASSERT_TRUE(wait_until([&] { return watch.expiries().contains("https://away"); }, seconds(10)));
  EXPECT_EQ(watch.expiries(), (CertificateExpiries{{"https://away", kExpires}, {"https://here", kExpires}}));
}

}  // namespace
}  // namespace lockstep
