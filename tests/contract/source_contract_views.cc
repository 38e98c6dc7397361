// Documents as a view has them: by id, in pages, with routings, and when it cannot be read.
#include <algorithm>

#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

constexpr std::int64_t kManyBytes = 1 << 20;

using Strings = std::set<std::string>;

TEST_P(SourceContract, ASnapshotRendersWhatTheViewHasAndHasNot) {
  source_ = world_->open();
  writer_->insert_thing(1, 5);
  writer_->insert_part(9, 1);
  writer_->insert_thing(2, -1);
  const auto snapshot = source_->changes().read();
  Rendered documents;
  EXPECT_TRUE(snapshot->render(docs(), ids_up_to(3), kManyBytes, documents.sink()).empty());
  ASSERT_EQ(documents.json.size(), 3U);
  EXPECT_NE(documents.json.at("1").find("\"n\""), std::string::npos) << documents.json.at("1");
  EXPECT_NE(documents.json.at("1").find("\"parts\""), std::string::npos) << documents.json.at("1");
  EXPECT_NE(documents.json.at("1").find("5"), std::string::npos) << documents.json.at("1");
  EXPECT_NE(documents.json.at("1").find("[9]"), std::string::npos) << documents.json.at("1");
  EXPECT_EQ(documents.json.at("2"), "none");
  EXPECT_EQ(documents.json.at("3"), "none");
}

TEST_P(SnapshotSourceContract, ASnapshotStaysAsItIsAndHoldsNobodyUp) {
  source_ = world_->open();
  writer_->insert_thing(1, 5);
  const auto snapshot = source_->changes().read();
  Rendered before;
  snapshot->render(docs(), ids_up_to(2), kManyBytes, before.sink());
  writer_->set_n(1, 6);
  writer_->insert_thing(2, 0);
  Rendered after;
  snapshot->render(docs(), ids_up_to(2), kManyBytes, after.sink());
  EXPECT_EQ(after.json, before.json);
  EXPECT_NE(after.json.at("1"), "none");
  EXPECT_EQ(after.json.at("2"), "none");
}

TEST_P(SourceContract, RenderingStopsAtTheByteLimitAndReturnsTheRest) {
  lead();
  for (int i = 1; i <= 20; ++i) writer_->insert_thing(i, 0);
  const auto transaction = begin();
  Rendered documents;
  int rounds = 0;
  for (DocumentIds rest = ids_up_to(20); !rest.empty(); ++rounds) {
    rest = transaction->render(docs(), rest, 1, documents.sink());
    ASSERT_LT(rounds, 30);
  }
  EXPECT_EQ(documents.json.size(), 20U);
  EXPECT_GT(rounds, 1);
}

TEST_P(SourceContract, PagesOfTheViewAreInOrderAndComplete) {
  lead();
  for (int i = 1; i <= 25; ++i) writer_->insert_thing(i * 7 % 26, 0);
  const auto transaction = begin();
  Rendered documents;
  std::optional<DocumentId> after;
  for (bool end = false; !end;) {
    const ViewPageEnd page = transaction->render_page(docs(), after, 4, kManyBytes, documents.sink());
    end = page.end;
    if (page.last) after = page.last;
    ASSERT_TRUE(page.last || page.end);
    ASSERT_LE(documents.order.size(), 25U);
  }
  ASSERT_EQ(documents.order.size(), 25U);
  EXPECT_TRUE(std::is_sorted(documents.order.begin(), documents.order.end(),
                             [](const auto& a, const auto& b) { return std::stoi(a) < std::stoi(b); }));
}

TEST_P(SourceContract, TheListsOfTheViewAreItsPagesWithoutContents) {
  source_ = world_->open();
  for (int i = 1; i <= 25; ++i) writer_->insert_thing(i * 7 % 26, 0);
  const auto snapshot = source_->changes().read();
  Rendered documents;
  snapshot->render_page(docs(), std::nullopt, 100, kManyBytes, documents.sink());
  std::vector<std::string> listed;
  std::optional<DocumentId> after;
  for (bool end = false; !end;) {
    const ViewList list = snapshot->list_page(docs(), after, 5);
    end = list.end;
    ASSERT_TRUE(end || list.documents.size() == 5U);
    for (const FoundDocument& document : list.documents) listed.push_back(document.id.text);
    if (!listed.empty()) after = DocumentId{listed.back()};
    ASSERT_LE(listed.size(), 25U);
  }
  EXPECT_EQ(listed.size(), 25U);
  EXPECT_EQ(listed, documents.order);
}

TEST_P(SourceContract, AListTellsRoutings) {
  source_ = world_->open();
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  writer_->insert_parcel(2, 99);
  EXPECT_EQ(source_->changes().read()->list_page(parcels(), std::nullopt, 10).documents,
            (std::vector<FoundDocument>{{{"1"}, "Ulm"}, {{"2"}, ""}}));
}

TEST_P(SourceContract, WhatNoIdOfTheViewCanBeIsADocumentThatItDoesNotHave) {
  source_ = world_->open();
  writer_->insert_thing(1, 0);
  const std::vector<std::string> impossible = {
      "no number", "01", "+1", "1 ", "1.0", "-0", "", "99999999999", "9223372036854775808", "1e0", "\u00a01"};
  DocumentIds ids{{"1"}};
  for (const std::string& text : impossible) ids.push_back({text});
  Rendered documents;
  EXPECT_TRUE(source_->changes().read()->render(docs(), ids, kManyBytes, documents.sink()).empty());
  EXPECT_EQ(documents.json.size(), ids.size());
  EXPECT_NE(documents.json.at("1"), "none");
  for (const std::string& text : impossible) EXPECT_EQ(documents.json.at(text), "none") << text;
}

TEST_P(SourceContract, APageStopsAtTheByteLimitButNotBeforeOneDocument) {
  source_ = world_->open();
  writer_->insert_things(1, 5);
  const auto snapshot = source_->changes().read();
  Rendered documents;
  ViewPageEnd page = snapshot->render_page(docs(), std::nullopt, 100, 1, documents.sink());
  EXPECT_GE(documents.json.size(), 1U);
  EXPECT_LT(documents.json.size(), 5U);
  EXPECT_FALSE(page.end);
  ASSERT_TRUE(page.last);
  EXPECT_EQ(page.last->text, documents.order.back());
  page = snapshot->render_page(docs(), page.last, 100, kManyBytes, documents.sink());
  EXPECT_TRUE(page.end);
  EXPECT_EQ(documents.json.size(), 5U);
  page = snapshot->render_page(docs(), page.last, 100, kManyBytes, documents.sink());
  EXPECT_TRUE(page.end);
  EXPECT_FALSE(page.last);
}

// --- what Elasticsearch has and the view does not ---

TEST_P(SourceContract, DocumentsThatTheViewDoesNotHaveAreStale) {
  source_ = world_->open();
  writer_->insert_thing(1, 0);
  writer_->insert_thing(2, -1);
  const auto stale =
      source_->changes().read()->stale(docs(), {{{"1"}, ""}, {{"2"}, ""}, {{"3"}, ""}, {{"no number"}, ""}});
  std::map<std::string, bool> elsewhere;
  for (const StaleDocument& document : stale) elsewhere[document.found.id.text] = document.elsewhere;
  EXPECT_EQ(elsewhere, (std::map<std::string, bool>{{"2", false}, {"3", false}, {"no number", false}}));
}

TEST_P(SourceContract, ADocumentUnderAnotherRoutingIsStaleThere) {
  source_ = world_->open();
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  writer_->insert_parcel(2, 99);
  const auto stale = source_->changes().read()->stale(
      parcels(), {{{"1"}, "Ulm"}, {{"1"}, "Bonn"}, {{"1"}, ""}, {{"2"}, ""}, {{"2"}, "Ulm"}, {{"3"}, "Ulm"}});
  std::map<std::pair<std::string, std::string>, bool> elsewhere;
  for (const StaleDocument& document : stale)
    elsewhere[{document.found.id.text, document.found.routing}] = document.elsewhere;
  EXPECT_EQ(elsewhere,
            (std::map<std::pair<std::string, std::string>, bool>{
                {{"1", "Bonn"}, true}, {{"1", ""}, true}, {{"2", "Ulm"}, true}, {{"3", "Ulm"}, false}}));
}

// --- routings ---

TEST_P(SourceContract, ADocumentIsRenderedWithItsRouting) {
  source_ = world_->open();
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  writer_->insert_parcel(2, 99);
  Rendered documents;
  source_->changes().read()->render(parcels(), ids_up_to(3), kManyBytes, documents.sink());
  EXPECT_EQ(documents.routing, (std::map<std::string, std::string>{{"1", "Ulm"}, {"2", ""}, {"3", ""}}));
  EXPECT_NE(documents.json.at("1").find("\"Ulm\""), std::string::npos) << documents.json.at("1");
  EXPECT_EQ(documents.json.at("1").find("_routing"), std::string::npos) << documents.json.at("1");
  EXPECT_NE(documents.json.at("2"), "none");
  EXPECT_EQ(documents.json.at("3"), "none");
}

/// Tests about the routings that were recorded.
class RoutedDocuments {
 public:
  explicit RoutedDocuments(const AppliedIndex& index) : index_(index) {}

  /// The stale routings of a document that is about to be written.
  Strings written(SourceTransaction& transaction, DocumentVersion version, const std::string& id) const {
    Rendered documents;
    EXPECT_TRUE(transaction.render_for(version, index_, {{id}}, kManyBytes, documents.sink()).empty());
    EXPECT_EQ(documents.json.size(), 1U);
    return documents.stale_routings[id];
  }
  Strings written_and_committed(std::unique_ptr<SourceTransaction> transaction, DocumentVersion version,
                                const std::string& id) const {
    Strings stale = written(*transaction, version, id);
    transaction->commit();
    return stale;
  }

 private:
  const AppliedIndex& index_;
};

TEST_P(SourceContract, ARoutedDocumentThatMovesIsStaleUnderEveryRoutingItHad) {
  lead();
  const RoutedDocuments documents(parcels());
  writer_->insert_town(1, "Ulm");
  writer_->insert_town(2, "Bonn");
  writer_->insert_parcel(1, 1);
  EXPECT_EQ(documents.written_and_committed(begin(), version(1), "1"), Strings{});
  writer_->move_parcel(1, 2);
  EXPECT_EQ(documents.written_and_committed(begin(), version(2), "1"), Strings{"Ulm"});
  writer_->rename_town(2, "Köln");
  EXPECT_EQ(documents.written_and_committed(begin(), version(3), "1"), (Strings{"Ulm", "Bonn"}));
  writer_->delete_parcel(1);
  EXPECT_EQ(documents.written_and_committed(begin(), version(4), "1"), (Strings{"Ulm", "Bonn", "Köln"}));
}

TEST_P(SourceContract, PagesTellStaleRoutingsToo) {
  lead();
  writer_->insert_town(1, "Ulm");
  for (int i = 1; i <= 3; ++i) writer_->insert_parcel(i, 1);
  for (const char* town : {"Ulm", "Bonn"}) {
    writer_->rename_town(1, town);
    const auto transaction = begin();
    Rendered documents;
    const ViewPageEnd page = transaction->render_page_for(version(1), parcels(), DocumentId{"1"}, 10,
                                                          kManyBytes, documents.sink());
    EXPECT_TRUE(page.end);
    ASSERT_EQ(documents.order, (std::vector<std::string>{"2", "3"}));
    EXPECT_EQ(documents.routing.at("2"), town);
    const Strings stale = town == std::string("Ulm") ? Strings{} : Strings{"Ulm"};
    EXPECT_EQ(documents.stale_routings.at("2"), stale);
    EXPECT_EQ(documents.stale_routings.at("3"), stale);
    transaction->commit();
  }
}

// A page's were lost, and its documents stayed under them for ever: the transaction said that it might be
// shown without a commit.
TEST_P(SourceContract, RecordedRoutingsOutliveATransactionThatMayBeShown) {
  lead();
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  drain();
  int counter = 0;
  const auto stale_routings = [&] {
    Rendered documents;
    begin()->render_for(version(++counter), parcels(), {{"1"}}, kManyBytes, documents.sink());
    return documents.stale_routings["1"];
  };
  const auto all_is_durable = [&] {
    const auto transaction = begin();
    transaction->take_snapshot();
    return transaction->may_be_shown();
  };
  const auto show = [&](const auto& render) {
    EXPECT_TRUE(becomes_true(all_is_durable));
    const auto transaction = begin();
    transaction->take_snapshot();
    Rendered documents;
    render(*transaction, documents);
    EXPECT_EQ(documents.json.size(), 1U);
    if (!transaction->may_be_shown()) transaction->commit();
  };
  show([&](SourceTransaction& transaction, Rendered& documents) {
    transaction.render_for(version(++counter), parcels(), {{"1"}}, kManyBytes, documents.sink());
  });
  writer_->rename_town(1, "Bonn");
  EXPECT_EQ(stale_routings(), (Strings{"Ulm"}));
  show([&](SourceTransaction& transaction, Rendered& documents) {
    transaction.render_page_for(version(++counter), parcels(), std::nullopt, 10, kManyBytes,
                                documents.sink());
  });
  writer_->rename_town(1, "Rom");
  EXPECT_EQ(stale_routings(), (Strings{"Bonn", "Ulm"}));
}

TEST_P(SourceContract, OnlyWhoIsAboutToWriteIsToldStaleRoutings) {
  lead();
  const RoutedDocuments routed(parcels());
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  routed.written_and_committed(begin(), version(1), "1");
  writer_->rename_town(1, "Bonn");
  {
    const auto transaction = begin();
    Rendered by_id;
    transaction->render(parcels(), {{"1"}}, kManyBytes, by_id.sink());
    EXPECT_EQ(by_id.stale_routings.at("1"), Strings{});
    Rendered by_page;
    transaction->render_page(parcels(), std::nullopt, 10, kManyBytes, by_page.sink());
    EXPECT_EQ(by_page.stale_routings.at("1"), Strings{});
  }
  EXPECT_EQ(routed.written(*begin(), version(2), "1"), Strings{"Ulm"});
}

TEST_P(SourceContract, ARoutingIsForgottenWhenItsDocumentIsGoneUnderIt) {
  lead();
  const RoutedDocuments documents(parcels());
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  documents.written_and_committed(begin(), version(5), "1");
  writer_->rename_town(1, "Bonn");
  Acknowledged gone;
  gone.gone_routes.push_back({parcels().id, {"1"}, "Ulm", version(4)});
  save(gone);
  EXPECT_EQ(documents.written(*begin(), version(6), "1"), Strings{"Ulm"})
      << "the document was written there after the deletion that is acknowledged";
  gone.gone_routes.at(0).version = version(6);
  save(gone);
  EXPECT_EQ(documents.written(*begin(), version(7), "1"), Strings{});
}

// --- a view that cannot be read ---

template <class Reading>
void expect_view_error(IndexId index, const Reading& reading) {
  try {
    reading();
    ADD_FAILURE() << "it could be read";
  } catch (const ViewError& error) {
    EXPECT_EQ(error.index(), index);
    EXPECT_FALSE(error.retryable());
  }
}

TEST_P(SourceContract, ABrokenViewIsToldApartFromOtherErrorsUntilItIsMended) {
  lead();
  writer_->insert_thing(1, 0);
  const IndexId index = docs().id;
  ASSERT_NO_THROW(source_->changes().read()->require_readable(docs()));
  world_->break_view();
  Rendered none;
  expect_view_error(index, [&] { source_->changes().read()->require_readable(docs()); });
  expect_view_error(index,
                    [&] { source_->changes().read()->render(docs(), {{"1"}}, kManyBytes, none.sink()); });
  expect_view_error(index, [&] {
    source_->changes().read()->render_page(docs(), std::nullopt, 10, kManyBytes, none.sink());
  });
  expect_view_error(index, [&] { source_->changes().read()->list_page(docs(), std::nullopt, 10); });
  expect_view_error(index, [&] { source_->changes().read()->stale(docs(), {{{"1"}, ""}}); });
  expect_view_error(index, [&] { begin()->require_readable(docs()); });
  expect_view_error(index,
                    [&] { begin()->render_for(version(1), docs(), {{"1"}}, kManyBytes, none.sink()); });
  expect_view_error(index, [&] {
    begin()->render_page_for(version(1), docs(), std::nullopt, 10, kManyBytes, none.sink());
  });
  EXPECT_TRUE(none.order.empty());
  EXPECT_NO_THROW(source_->changes().read()->require_readable(parcels())) << "the other view is sound";
  world_->mend_view();
  EXPECT_NO_THROW(source_->changes().read()->require_readable(docs()));
  Rendered documents;
  source_->changes().read()->render(docs(), {{"1"}}, kManyBytes, documents.sink());
  EXPECT_NE(documents.json.at("1"), "none");
}

}  // namespace
}  // namespace lockstep
