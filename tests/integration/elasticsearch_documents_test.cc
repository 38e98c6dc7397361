// Documents written by the bulk writer and read back, against a real engine.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "replicator/elasticsearch/read/document_reader.h"
#include "replicator/elasticsearch/read/document_scan.h"
#include "replicator/elasticsearch/read/id_search.h"
#include "tests/integration/elasticsearch_fixture.h"
#include "tests/support/eventually.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct Stored {
  std::string routing, source;
  DocumentVersion version;
  bool operator==(const Stored&) const = default;
};

class ElasticsearchDocumentsContract : public ElasticsearchContract {
 protected:
  void SetUp() override { apply(desired(kMapping)); }

  BulkWriter& writer() {
    if (!writer_) {
      const BulkWriter::Options options{
          .bulks_in_flight = 1, .request_timeout = 30s, .backoff = {10ms, 50ms}};
      writer_ = std::make_unique<BulkWriter>(options, transports());
    }
    return *writer_;
  }

  BulkResult write(BulkRequest request) {
    writer().submit(std::move(request));
    std::vector<BulkResult> results = writer().take(30s);
    if (results.size() != 1) throw std::runtime_error("no result: " + writer().state().reason);
    return std::move(results.front());
  }

  std::optional<Stored> fetch(const std::string& id, const std::string& routing = {}) {
    std::optional<Stored> stored;
    const DocumentLocation location{id, routing};
    fetch_documents(
        client(), alias(), {&location, 1}, [&](std::size_t, const std::optional<StoredDocument>& document) {
          if (document)
            stored = Stored{std::string(document->routing), std::string(document->source), document->version};
        });
    return stored;
  }

  static constexpr const char* kMapping =
      R"({"settings":{"number_of_shards":3,"number_of_replicas":0,"store":{"stats_refresh_interval":"0s"}},"mappings":{"dynamic":false,"properties":{"n":{"type":"integer"}}}})";

  std::unique_ptr<BulkWriter> writer_;
};

DocumentVersion version(std::int64_t counter) {
  return {Epoch{2}, counter};
}

// One of them let Elasticsearch refuse the whole request, and with it `verify` and every comparison.
TEST_F(ElasticsearchDocumentsContract, IdsThatElasticsearchDoesNotTakeAreMissingAndTheOthersAreFound) {
  BulkRequest request;
  request.index(alias(), {1, "a", ""}, version(5), "{}");
  write(std::move(request));
  client().refresh(alias());
  const std::string too_long(513, 'x');
  const std::vector<DocumentLocation> wanted = {{"", ""}, {too_long, ""}, {"\xff", ""}, {"a", ""}, {"", ""}};
  EXPECT_EQ(count_documents(client(), alias(), wanted), 1);
  std::vector<bool> found;
  fetch_documents(client(), alias(), wanted,
                  [&](std::size_t, const auto& stored) { found.push_back(stored.has_value()); });
  EXPECT_EQ(found, (std::vector<bool>{false, false, false, true, false}));
}

TEST_F(ElasticsearchDocumentsContract, AnyIdAndRoutingComesBackAsItWasWritten) {
  const std::vector<std::string> texts = {"a b",
                                          "a/b",
                                          R"(a"b)",
                                          R"(a\b)",
                                          "a%20b",
                                          "a\nb",
                                          "a\tb",
                                          "..",
                                          "_all",
                                          "-a,b*?",
                                          "Größe",
                                          "東京",
                                          "😀",
                                          "\u2028",
                                          "#&=+",
                                          "{}",
                                          "'\x01'",
                                          std::string(512, 'x'),
                                          "é" + std::string(510, '"')};
  BulkRequest request;
  for (const std::string& text : texts) request.index(alias(), {1, text, text}, version(5), "{\"n\":\n1}");
  const BulkResult written = write(std::move(request));
  EXPECT_EQ(written.outcomes, std::vector<Outcome>(texts.size(), Outcome::kApplied));

  for (const std::string& text : texts) {
    EXPECT_EQ(fetch(text, text), (Stored{text, R"({"n": 1})", version(5)})) << text;
  }
  client().refresh(alias());
  EXPECT_EQ(client().count(alias()), static_cast<std::int64_t>(texts.size()));
  std::set<std::string> scanned;
  scan_documents(client(), alias(), {.page = 4}, [&](std::span<const StoredDocument> page) {
    EXPECT_LE(page.size(), 4u);
    for (const StoredDocument& document : page) {
      EXPECT_EQ(document.id, document.routing);
      EXPECT_EQ(document.version, version(5));
      EXPECT_TRUE(scanned.emplace(document.id).second);
    }
  });
  EXPECT_EQ(scanned, std::set<std::string>(texts.begin(), texts.end()));

  BulkRequest removal;
  for (const std::string& text : texts) removal.remove(alias(), {1, text, text}, version(6));
  EXPECT_EQ(write(std::move(removal)).outcomes, std::vector<Outcome>(texts.size(), Outcome::kApplied));
  EXPECT_EQ(fetch("a b", "a b"), std::nullopt);
}

TEST_F(ElasticsearchDocumentsContract, TheBytesOfASourceAreKept) {
  const std::string source = R"({ "z":1.10, "a" : [ 1e3 ,  "\u00e9\/" ],"big":12345678901234567890123 })";
  BulkRequest request;
  request.index(alias(), {1, "1", ""}, version(1), source);
  write(std::move(request));
  EXPECT_EQ(fetch("1"), (Stored{"", source, version(1)}));

  client().refresh(alias());
  const std::vector<DocumentLocation> wanted = {{"1", ""}, {"2", ""}};
  std::vector<std::string> read(wanted.size());
  NeighbourReader(client(), alias()).fetch(wanted, [&](std::size_t i, const auto& stored) {
    read[i] = stored ? std::string(stored->source) : "none";
  });
  EXPECT_EQ(read, (std::vector<std::string>{source, "none"}));
}

TEST_F(ElasticsearchDocumentsContract, NeighboursComeWholeFromAnIndexThatAllowsFewAtOnce) {
  client().put_settings(alias(), {{"index.max_result_window", 7}});
  constexpr int kDocuments = 50;
  std::vector<std::string> ids;
  BulkRequest request;
  for (int i = 0; i < kDocuments; ++i) {
    ids.push_back(std::to_string(i));
    for (const std::string routing : {"r", "s"})
      request.index(alias(), {1, ids.back(), routing}, version(5), R"({"n":)" + ids.back() + "}");
  }
  write(std::move(request));
  client().refresh(alias());
  std::vector<DocumentLocation> wanted;
  for (const std::string& id : ids) wanted.push_back({id, "s"});
  std::vector<std::string> read(wanted.size());
  NeighbourReader(client(), alias()).fetch(wanted, [&](std::size_t i, const auto& stored) {
    if (stored && stored->routing == "s") read[i] += stored->source;
  });
  for (int i = 0; i < kDocuments; ++i)
    EXPECT_EQ(read[static_cast<std::size_t>(i)], R"({"n":)" + ids[static_cast<std::size_t>(i)] + "}");
}

TEST_F(ElasticsearchDocumentsContract, LookingADocumentUpGivesNoContents) {
  BulkRequest request;
  request.index(alias(), {1, "1", "r"}, version(4), "{}");
  write(std::move(request));
  const std::vector<DocumentLocation> wanted = {{"1", "r"}, {"2", "r"}};
  std::vector<std::optional<DocumentVersion>> found;
  look_up_documents(client(), alias(), wanted, [&](std::size_t, const auto& stored) {
    found.push_back(stored ? std::optional(stored->version) : std::nullopt);
    if (!stored) return;
    EXPECT_EQ(stored->source, "");
    EXPECT_EQ(stored->routing, "r");
  });
  EXPECT_EQ(found, (std::vector<std::optional<DocumentVersion>>{version(4), std::nullopt}));
}

TEST_F(ElasticsearchDocumentsContract, DocumentsAreCountedByTheirIdsAndMeasuredOnAverage) {
  EXPECT_EQ(client().average_stored_size(alias()), std::nullopt);
  constexpr int kDocuments = 20'000;
  std::vector<std::string> ids;
  BulkRequest request;
  for (int i = 0; i < kDocuments; ++i) {
    ids.push_back("id/" + std::to_string(i));
    request.index(alias(), {1, ids.back(), ""}, version(1), "{}");
  }
  request.index(alias(), {1, "nobody's", ""}, version(1), "{}");
  write(std::move(request));
  client().refresh(alias());
  ids.emplace_back("not there");
  std::vector<DocumentLocation> wanted;
  for (const std::string& id : ids) wanted.push_back({id, ""});
  EXPECT_EQ(count_documents(client(), alias(), wanted), kDocuments);
  const std::optional<std::int64_t> size = client().average_stored_size(alias());
  ASSERT_TRUE(size.has_value());
  EXPECT_GT(*size, 0);
  EXPECT_LT(*size, 1'000);
}

TEST_F(ElasticsearchDocumentsContract, CompressedRequestsAndRepliesSayTheSame) {
  constexpr int kDocuments = 2'000;
  BulkRequest request;
  for (int i = 0; i < kDocuments; ++i) {
    request.index(alias(), {1, std::to_string(i), ""}, version(5), R"({"n":)" + std::to_string(i) + "}");
  }
  BulkWriter::Options options;
  options.bulks_in_flight = 1;
  options.request_timeout = 30s;
  BulkWriter compressing(options, compressing_transports());
  compressing.submit(std::move(request));
  const std::vector<BulkResult> results = compressing.take(30s);
  ASSERT_EQ(results.size(), 1U) << compressing.state().reason;
  EXPECT_EQ(results[0].outcomes, std::vector<Outcome>(kDocuments, Outcome::kApplied));

  ElasticsearchClient reader(compressing_transports()());
  reader.refresh(alias());
  EXPECT_EQ(reader.count(alias()), kDocuments);
  std::vector<std::string> ids;
  for (int i = 0; i < kDocuments; ++i) ids.push_back(std::to_string(i));
  std::vector<DocumentLocation> all;
  for (const std::string& id : ids) all.push_back({id, ""});
  int equal = 0;
  fetch_documents(reader, alias(), all, [&](std::size_t i, const std::optional<StoredDocument>& document) {
    if (document && document->source == R"({"n":)" + std::to_string(i) + "}") ++equal;
  });
  EXPECT_EQ(equal, kDocuments);
}

TEST_F(ElasticsearchDocumentsContract, EveryKindOfOutcomeInOneBulk) {
  BulkRequest first;
  first.index(alias(), {1, "newer", ""}, version(9), "{}");
  write(std::move(first));

  BulkRequest request;
  request.index(alias(), {1, "good", ""}, version(3), R"({"n":1})");
  request.index(alias(), {1, "wrong type", ""}, version(3), R"({"n":"x"})");
  request.index(alias(), {1, "newer", ""}, version(3), "{}");
  request.remove(alias(), {1, "never was", ""}, version(3));
  request.index(alias(), {1, "not JSON", ""}, version(3), R"({"n":)");
  request.remove(alias(), {1, "good", "elsewhere"}, version(3));
  const BulkResult result = write(std::move(request));

  EXPECT_EQ(result.outcomes, (std::vector<Outcome>{Outcome::kApplied, Outcome::kRefused, Outcome::kSuperseded,
                                                   Outcome::kApplied, Outcome::kRefused, Outcome::kApplied}));
  ASSERT_EQ(result.refusals.size(), 2u);
  EXPECT_EQ(result.refusals[0].item, 1u);
  EXPECT_EQ(result.refusals[0].status, 400);
  EXPECT_THAT(result.refusals[0].type, HasSubstr("parsing_exception"));
  EXPECT_THAT(result.refusals[0].reason, HasSubstr("For input string: \"x\""));
  EXPECT_EQ(result.refusals[1].item, 4u);
  EXPECT_EQ(result.refusals[1].reason.find("HTTP/1.1"), std::string::npos) << result.refusals[1].reason;
}

TEST_F(ElasticsearchDocumentsContract, TheSameVersionIsAppliedAgain) {
  for (int i = 0; i < 2; ++i) {
    BulkRequest request;
    request.index(alias(), {1, "a", ""}, version(4), "{}");
    request.remove(alias(), {1, "b", ""}, version(4));
    EXPECT_EQ(write(std::move(request)).outcomes, std::vector<Outcome>(2, Outcome::kApplied));
  }
}

TEST_F(ElasticsearchDocumentsContract, ADeletedDocumentDoesNotComeBackByAnOlderWrite) {
  BulkRequest removal;
  removal.remove(alias(), {1, "a", ""}, version(4));
  write(std::move(removal));
  BulkRequest late;
  late.index(alias(), {1, "a", ""}, version(3), "{}");
  EXPECT_EQ(write(std::move(late)).outcomes, std::vector<Outcome>{Outcome::kSuperseded});
  EXPECT_EQ(fetch("a"), std::nullopt);
}

TEST_F(ElasticsearchDocumentsContract, SlicesOfAScanCoverEachDocumentOnce) {
  BulkRequest request;
  for (int i = 0; i < 300; ++i) request.index(alias(), {1, std::to_string(i), ""}, version(1), "{}");
  write(std::move(request));
  client().refresh(alias());
  std::multiset<std::string> scanned;
  for (int slice = 0; slice < 2; ++slice) {
    scan_documents(client(), alias(), {.page = 100, .slice = slice, .slices = 2},
                   [&](std::span<const StoredDocument> page) {
                     for (const StoredDocument& document : page) scanned.emplace(document.id);
                   });
  }
  EXPECT_EQ(scanned.size(), 300u);
  EXPECT_EQ(std::set<std::string>(scanned.begin(), scanned.end()).size(), 300u);
}

TEST_F(ElasticsearchDocumentsContract, AMissingAliasHoldsItsOwnDocumentsAndIsNeverCreated) {
  const std::string other = alias() + "-other";
  for (const BulkAction action : {BulkAction::kIndex, BulkAction::kDelete}) {
    BulkRequest missing;
    if (action == BulkAction::kIndex) missing.index(other, {2, "a", ""}, version(1), "{}");
    if (action == BulkAction::kDelete) missing.remove(other, {2, "a", ""}, version(1));
    writer().submit(std::move(missing));
    BulkRequest request;
    request.index(alias(), {1, "here", ""}, version(1), "{}");
    const std::uint64_t ticket = writer().submit(std::move(request));
    std::vector<BulkResult> results;
    while (results.size() < 2) {
      std::vector<BulkResult> more = writer().take(30s);
      ASSERT_FALSE(more.empty());
      std::ranges::move(more, std::back_inserter(results));
    }
    for (const BulkResult& result : results) {
      const bool is_held = result.ticket != ticket;
      EXPECT_EQ(result.outcomes, std::vector<Outcome>{is_held ? Outcome::kNotTaken : Outcome::kApplied});
      ASSERT_EQ(result.refusals.size(), is_held ? 1u : 0u);
      if (is_held) EXPECT_THAT(result.refusals[0].reason, HasSubstr("lockstep apply"));
    }
    EXPECT_TRUE(fetch("here")) << "the other index's documents do not wait";
    EXPECT_EQ(server().request("GET", "/" + other).status, 404) << "nothing was created";
    EXPECT_FALSE(writer().state().waiting);
  }
}

TEST_F(ElasticsearchDocumentsContract, ABlockedIndexHoldsItsDocuments) {
  server().expect("PUT", "/" + alias() + "/_settings", R"({"index.blocks.read_only_allow_delete":true})");
  const auto outcome = [&] {
    BulkRequest request;
    request.index(alias(), {1, "a", ""}, version(1), "{}");
    writer().submit(std::move(request));
    std::vector<BulkResult> results = writer().take(30s);
    return results.empty() ? BulkResult() : std::move(results.front());
  };
  const BulkResult blocked = outcome();
  ASSERT_EQ(blocked.outcomes, std::vector<Outcome>{Outcome::kNotTaken});
  EXPECT_EQ(blocked.refusals[0].type, "cluster_block_exception");
  server().expect("PUT", "/" + alias() + "/_settings",
                  R"({"index.blocks.read_only_allow_delete":null,"index.blocks.write":true})");
  const BulkResult other = outcome();
  ASSERT_EQ(other.outcomes, std::vector<Outcome>{Outcome::kNotTaken});
  EXPECT_NE(other.refusals[0].reason.find("; set index.blocks.write to null"), std::string::npos)
      << other.refusals[0].reason;
  server().expect("PUT", "/" + alias() + "/_settings", R"({"index.blocks.write":null})");
  EXPECT_EQ(outcome().outcomes, std::vector<Outcome>{Outcome::kApplied});
}

// It used to be the documents' fault: each became a dead letter, deletes among them.
TEST_F(ElasticsearchDocumentsContract, AnAliasOfTwoIndicesHoldsItsDocuments) {
  const std::string second = alias() + "-second";
  server().expect("PUT", "/" + second, R"({"aliases":{")" + alias() + R"(":{}}})");
  BulkRequest request;
  request.index(alias(), {1, "a", ""}, version(1), "{}");
  request.remove(alias(), {1, "b", ""}, version(1));
  writer().submit(std::move(request));
  const std::vector<BulkResult> results = writer().take(30s);
  server().expect("DELETE", "/" + second);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcomes, std::vector<Outcome>(2, Outcome::kNotTaken));
}

}  // namespace
}  // namespace lockstep
