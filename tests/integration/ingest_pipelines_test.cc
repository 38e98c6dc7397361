// Elasticsearch changes documents on their way into the index, or refuses them all.
#include <gtest/gtest.h>

#include "tests/support/blog_pipeline.h"
#include "tests/support/random_seed.h"

namespace lockstep::support {
namespace {

class IngestPipelines : public BlogTest {
 protected:
  IngestPipelines() {
    server().expect("PUT", "/_ingest/pipeline/" + name_, R"({"processors": []})");
    pipeline_.set_mapping("posts", R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0,
        "default_pipeline": ")" + name_ +
                                       R"("}, "mappings": {"dynamic": false}})");
  }
  ~IngestPipelines() override { server().request("DELETE", "/_ingest/pipeline/" + name_); }

  ElasticsearchServer& server() const { return posts_.server(); }

  /// As a processor would.
  void set(const std::string& id, const std::string& field) {
    server().expect("POST", "/" + posts_.alias() + "/_update/" + id, "{\"doc\": {" + field + "}}");
  }

  const std::string name_ = "lockstep-test-" + random_name(8);
};

TEST_F(IngestPipelines, FieldsThatAPipelineAddsAreNoDifference) {
  bring_up();
  set("1", R"("stamped": 1)");
  const Completed equal = pipeline_.lockstep("verify");
  EXPECT_EQ(equal.exit_code, 0) << equal.out;
  EXPECT_NE(equal.err.find("equal in the fields of the view"), std::string::npos) << equal.err;
  EXPECT_NE(equal.err.find(name_), std::string::npos) << equal.err;
  set("2", R"("title": "changed")");
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 3) << "a field of the view";
}

TEST_F(IngestPipelines, CheckNamesAPipelineThatDoesNotExist) {
  const Completed there = pipeline_.lockstep("check");
  EXPECT_EQ(there.exit_code, 0) << there.out << there.err;
  EXPECT_NE(there.out.find("compares the fields that the view has"), std::string::npos) << there.out;
  server().expect("DELETE", "/_ingest/pipeline/" + name_);
  const Completed missing = pipeline_.lockstep("check");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.out.find("ingest pipeline " + name_ + ", which Elasticsearch does not have"),
            std::string::npos)
      << missing.out;
}

class NothingButRefusals : public BlogTest {
 protected:
  NothingButRefusals() {
    pipeline_.set_mapping("posts", R"({"settings": {"number_of_replicas": 0},
        "mappings": {"properties": {"title": {"type": "integer"}}}})");
  }
};

TEST_F(NothingButRefusals, AFillingThatMadeOnlyDeadLettersIsNoSuccess) {
  pipeline_.apply();
  const Completed filled = pipeline_.lockstep("run", {"--until-caught-up"});
  EXPECT_EQ(filled.exit_code, 1);
  EXPECT_NE(filled.err.find("lockstep dead-letters list"), std::string::npos) << filled.err;
  EXPECT_EQ(dead_letters(), 20);
}

TEST_F(NothingButRefusals, RepairDoesNotSayRepairedOfWhatStillDiffers) {
  pipeline_.apply();
  pipeline_.lockstep("run", {"--until-caught-up"});
  const Completed repaired = pipeline_.lockstep("verify", {"--repair"});
  EXPECT_EQ(repaired.exit_code, 3);
  EXPECT_EQ(repaired.err.find("\nrepaired"), std::string::npos) << repaired.err;
  EXPECT_NE(repaired.err.find("not repaired"), std::string::npos) << repaired.err;
  EXPECT_NE(repaired.out.find("\tstill missing\t\"1\""), std::string::npos) << repaired.out;
}

}  // namespace
}  // namespace lockstep::support
