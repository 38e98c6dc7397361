#include "replicator/source/template.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace lockstep {
namespace {

TEST(TemplateTest, HolesAreFilledInOnePass) {
  EXPECT_EQ(fill_template("{a} and {b}\n", {{{"a", "{b}"}, {"b", "{#c}"}}, {}}), "{b} and {#c}\n");
}

TEST(TemplateTest, BlocksComeOnceForEachFilling) {
  const Filling filling = {
      {{"x", "outer"}}, {{"each", {Filling{{{"n", "1"}}, {}}, Filling{{{"n", "2"}, {"x", "inner"}}, {}}}}}};
  EXPECT_EQ(fill_template("before\n{#each}\n  {n} {x}\n{/each}\nafter {x}\n", filling),
            "before\n  1 outer\n  2 inner\nafter outer\n");
}

TEST(TemplateTest, BlocksHoldBlocks) {
  Filling inner;
  inner.blocks["second"] = when(true);
  Filling other;
  other.blocks["second"] = when(false);
  Filling filling;
  filling.blocks["first"] = {inner, other};
  EXPECT_EQ(fill_template("{#first}\na\n{#second}\nb\n{/second}\n{/first}\n", filling), "a\nb\na\n");
}

TEST(TemplateTest, CommentAtTheTopIsLeftOut) {
  EXPECT_EQ(fill_template("-- What {this} is for.\n--   more\nselect 1 -- one\n-- two\n", {}),
            "select 1 -- one\n-- two\n");
}

TEST(TemplateTest, LastLineNeedsNoLineBreak) {
  EXPECT_EQ(fill_template("a\n{b}", {{{"b", "c"}}, {}}), "a\nc");
}

TEST(TemplateTest, WhatIsNotFilledIsAFault) {
  EXPECT_THROW(fill_template("{hole}", {}), std::logic_error);
  EXPECT_THROW(fill_template("{#block}\n{/block}\n", {}), std::logic_error);
  Filling filling;
  filling.blocks["block"] = when(true);
  EXPECT_THROW(fill_template("{#block}\nno end\n", filling), std::logic_error);
}

}  // namespace
}  // namespace lockstep
