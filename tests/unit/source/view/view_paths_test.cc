// Which way a changed row takes to its documents: one is enough, and it must not lead over a tenant.
#include "replicator/source/view/view_paths.h"

#include <gmock/gmock.h>

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// Tables are called by a letter, and each has the key "id". The documents are those of "d", the first place.
struct View {
  View() { add("d"); }

  std::size_t add(const std::string& table, std::map<int, int> branches = {}) {
    graph.keys[table] = {{"id"}};
    graph.places.push_back({table, std::move(branches)});
    if (graph.places.size() == 1) graph.documents[0] = "id";
    return graph.places.size() - 1;
  }
  void link(std::size_t place, const ColumnNames& columns, std::size_t other, const ColumnNames& others) {
    graph.links.push_back({place, other, columns, others});
  }
  /// "c.x=d.id", with a step behind the other.
  std::vector<std::string> ways(std::size_t place) const {
    std::vector<std::string> texts;
    for (const ViewPath& path : paths_from(graph, place).paths) {
      std::string& text = texts.emplace_back();
      for (const ViewStep& step : path.steps) {
        text += (text.empty() ? "" : ", ") + side(step.from, step.from_columns) + "=" +
                side(step.to, step.to_columns);
      }
    }
    return texts;
  }
  static std::string side(const std::string& table, const ColumnNames& columns) {
    std::string text;
    for (const std::string& column : columns) text += (text.empty() ? "" : "+") + table + "." + column;
    return text;
  }

  ViewGraph graph;
};

TEST(ViewPathsTest, OneWayIsEnough) {
  View view;
  const std::size_t c = view.add("c"), p = view.add("p");
  view.link(c, {"task"}, 0, {"id"});
  view.link(p, {"id"}, c, {"author"});
  EXPECT_THAT(view.ways(0), ElementsAre(""));
  EXPECT_THAT(view.ways(c), ElementsAre("c.task=d.id"));
  EXPECT_THAT(view.ways(p), ElementsAre("p.id=c.author, c.task=d.id"));
}

TEST(ViewPathsTest, TheTenantIsTheLastResort) {
  View view;
  const std::size_t c = view.add("c"), p = view.add("p"), o = view.add("o");
  view.link(c, {"task"}, 0, {"id"});
  view.link(p, {"id"}, c, {"author"});
  view.link(p, {"org"}, 0, {"org"});  // "and person.org_id = task.org_id"
  view.link(o, {"id"}, 0, {"org"});
  view.link(o, {"id"}, p, {"org"});
  EXPECT_THAT(view.ways(p), ElementsAre("p.id=c.author, c.task=d.id"));
  EXPECT_THAT(view.ways(o), ElementsAre("o.id=d.org"));
  const std::size_t q = view.add("q");
  view.link(q, {"org"}, o, {"id"});
  EXPECT_THAT(view.ways(q), ElementsAre("q.org=o.id, o.id=d.org")) << "there is no other";
}

TEST(ViewPathsTest, WhatAKeyNeedsNoMoreIsLeftOut) {
  View view;
  const std::size_t a = view.add("a");
  view.link(a, {"org", "task"}, 0, {"org", "id"});
  EXPECT_THAT(view.ways(a), ElementsAre("a.task=d.id"));
  view.graph.keys["d"] = {{"org", "id"}};
  EXPECT_THAT(view.ways(a), ElementsAre("a.org+a.task=d.org+d.id"));
}

TEST(ViewPathsTest, EachAlternativeIsAWay) {
  View view;
  const std::size_t c = view.add("c"), p = view.add("p");
  view.link(c, {"task"}, 0, {"id"});
  view.link(c, {"slug"}, 0, {"slug"});
  view.link(p, {"id"}, c, {"author"});
  EXPECT_THAT(view.ways(p),
              UnorderedElementsAre("p.id=c.author, c.task=d.id", "p.id=c.author, c.slug=d.slug"));
}

TEST(ViewPathsTest, EachBranchOfAUnionHasItsWay) {
  View view;
  const std::size_t a = view.add("a", {{1, 0}}), b = view.add("b", {{1, 1}}), p = view.add("p");
  view.link(a, {"task"}, 0, {"id"});
  view.link(b, {"task"}, 0, {"id"});
  view.link(p, {"id"}, a, {"person"});
  view.link(p, {"id"}, b, {"person"});
  EXPECT_THAT(view.ways(a), ElementsAre("a.task=d.id"));
  EXPECT_THAT(view.ways(p), UnorderedElementsAre("p.id=a.person, a.task=d.id", "p.id=b.person, b.task=d.id"));
  const std::size_t c = view.add("c", {{1, 1}});
  view.link(c, {"id"}, p, {"city"});
  EXPECT_THAT(view.ways(c), ElementsAre("c.id=p.city, p.id=b.person, b.task=d.id")) << "not by the other one";
}

TEST(ViewPathsTest, DocumentsOfABranchAreNotThoseOfAnother) {
  ViewGraph graph;
  graph.places = {{"a", {{1, 0}}}, {"b", {{1, 1}}}, {"x", {{1, 1}}}, {"o", {}}};
  graph.links = {{2, 1, {"b"}, {"id"}}, {3, 0, {"a"}, {"id"}}};
  graph.documents = {{0, "id"}, {1, "id"}};
  const PathsOfPlace of_x = paths_from(graph, 2);
  EXPECT_TRUE(of_x.is_reached);
  ASSERT_THAT(of_x.paths, SizeIs(1));
  EXPECT_EQ(of_x.paths[0].table, "b");
  EXPECT_FALSE(paths_from(graph, 3).is_reached) << "it may be shown by documents of both branches";
  EXPECT_THAT(unreached_tables(graph), ElementsAre("o"));
  graph.documents.clear();
  EXPECT_THAT(unreached_tables(graph), SizeIs(4));
}

TEST(ViewPathsTest, ThroughPeersToTheirDocumentsByWhatStandsAmongThem) {
  View view;
  const std::size_t s = view.add("s");
  view.link(s, {"player"}, 0, {"id"});
  view.graph.peers = {{0, {"team"}, {}, {0, s}, {0, s}}};
  EXPECT_THAT(view.ways(0), ElementsAre("", "d.team=d.team"));
  EXPECT_THAT(view.ways(s), ElementsAre("s.player=d.id", "s.player=d.id, d.team=d.team"));
}

TEST(ViewPathsTest, APlaceWithoutALinkIsNotReached) {
  View view;
  const std::size_t n = view.add("n");
  EXPECT_FALSE(paths_from(view.graph, n).is_reached);
  EXPECT_THAT(view.ways(n), IsEmpty());
}

}  // namespace
}  // namespace lockstep
