#include "replicator/elasticsearch/admin/privileges.h"

#include <gmock/gmock.h>

#include "replicator/error.h"
#include "tests/unit/elasticsearch/scripted_transport.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PrivilegesTest, AsksForTheAliasAndItsIndicesAndNamesWhatIsLacking) {
  Script script;
  script.answers.push_back(
      {200, R"({"username": "u", "has_all_requested": false, "cluster": {"monitor": false},
      "index": {"posts": {"read": true, "write": false}, "posts-*": {"create_index": false, "write": false}}})"});
  ElasticsearchClient client = client_of(script);
  EXPECT_THAT(missing_privileges(client, {"posts"}),
              ElementsAre("monitor on the cluster", "write on posts", "create_index, write on posts-*"));
  EXPECT_EQ(script.requests[0].path, "/_security/user/_has_privileges");
  EXPECT_EQ(nlohmann::json::parse(script.requests[0].body)["index"][0]["names"],
            nlohmann::json({"posts", "posts-*"}));
}

TEST(PrivilegesTest, AnEngineWithoutSecurityAllowsEverything) {
  for (const int status : {400, 404, 405, 500}) {
    Script script;
    script.answers.push_back({status, R"({"error": "no handler found"})"});
    script.answers.push_back({status, R"({"error": "no handler found"})"});
    ElasticsearchClient client = client_of(script);
    EXPECT_THAT(missing_privileges(client, {"posts"}), IsEmpty()) << status;
  }
}

TEST(PrivilegesTest, OpenSearchIsAskedByWhatCannotSucceed) {
  Script script;
  const std::string forbidden = R"({"error": {"type": "security_exception", "reason": "r"}, "status": 403})";
  const std::string nonsense = R"({"error": {"type": "illegal_argument_exception", "reason": "r"}})";
  script.answers.push_back({400, nonsense});
  script.answers.push_back({200, R"({"user_name": "u"})"});
  script.answers.push_back({200, R"({"docs": []})"});
  script.answers.push_back({403, forbidden});  // scroll
  script.answers.push_back({400, nonsense});
  script.answers.push_back({404, nonsense});  // aliases
  script.answers.push_back({404, nonsense});
  script.answers.push_back({403, forbidden});  // create
  for (int i = 0; i < 5; ++i) script.answers.push_back({404, nonsense});
  script.answers.push_back({404, nonsense});  // the alias
  script.answers.push_back({200, R"({"errors": true, "items": [{"index": {"status": 403}}]})"});
  script.answers.push_back({200, R"({"errors": true, "items": [{"delete": {"status": 403}}]})"});
  ElasticsearchClient client = client_of(script);
  EXPECT_THAT(missing_privileges(client, {"posts"}),
              ElementsAre("indices:data/read/scroll on the cluster", "indices:admin/create on posts-*",
                          "indices:data/write/bulk* on posts"));
  for (const auto& request : script.requests) EXPECT_NE(request.path, "/posts-000001");
}

TEST(PrivilegesTest, WrongCredentialsAreAnError) {
  Script script;
  script.answers.push_back({401, R"({"error": {"type": "security_exception", "reason": "r"}})"});
  ElasticsearchClient client = client_of(script);
  EXPECT_THROW(missing_privileges(client, {"posts"}), Error);
}

}  // namespace
}  // namespace lockstep
