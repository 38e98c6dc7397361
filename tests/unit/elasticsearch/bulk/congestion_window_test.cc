#include "replicator/elasticsearch/bulk/congestion_window.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

constexpr std::size_t kMebibyte = 1024 * 1024;

TEST(CongestionWindow, BeginsWideOpen) {
  const CongestionWindow window(4, kMebibyte);
  EXPECT_EQ(window.requests(), 4);
  EXPECT_EQ(window.bytes(), CongestionWindow::kNoLimit);
}

TEST(CongestionWindow, OverloadHalvesBothOnceForAllThatWereOnTheWire) {
  CongestionWindow window(8, kMebibyte);
  const auto generation = window.generation();
  for (int i = 0; i < 8; ++i) window.overloaded(generation);
  EXPECT_EQ(window.requests(), 4);
  EXPECT_EQ(window.bytes(), kMebibyte / 2);
  window.overloaded(window.generation());
  EXPECT_EQ(window.requests(), 2);
  EXPECT_EQ(window.bytes(), kMebibyte / 4);
}

TEST(CongestionWindow, NeverFallsBelowOneRequestOfAUsefulSize) {
  CongestionWindow window(3, kMebibyte);
  for (int i = 0; i < 100; ++i) window.overloaded(window.generation());
  EXPECT_EQ(window.requests(), 1);
  EXPECT_EQ(window.bytes(), 64u * 1024);
  CongestionWindow small(0, 1'000);
  small.overloaded(small.generation());
  EXPECT_EQ(small.requests(), 1);
  EXPECT_GE(small.bytes(), 1'000u);
}

TEST(CongestionWindow, GrowsByAStepARoundUntilItIsWideOpenAgain) {
  CongestionWindow window(8, kMebibyte);
  for (int i = 0; i < 3; ++i) window.overloaded(window.generation());
  ASSERT_EQ(window.requests(), 1);
  window.came_through();
  EXPECT_EQ(window.requests(), 2);
  window.came_through();
  EXPECT_EQ(window.requests(), 2) << "half of a round";
  window.came_through();
  window.came_through();
  EXPECT_EQ(window.requests(), 3);
  EXPECT_EQ(window.bytes(), kMebibyte / 8 + 4 * kMebibyte / 16);
  for (int i = 0; i < 40; ++i) window.came_through();
  EXPECT_EQ(window.requests(), 8);
  EXPECT_EQ(window.bytes(), CongestionWindow::kNoLimit);
}

TEST(CongestionWindow, WhatIsTooLargeIsNotTriedAgain) {
  CongestionWindow window(3, 2 * kMebibyte);
  window.too_large(2 * kMebibyte + 500);
  for (int i = 0; i < 100; ++i) window.came_through();
  EXPECT_EQ(window.bytes(), kMebibyte + 250);
  EXPECT_EQ(window.requests(), 3);
  for (int i = 0; i < 100; ++i) window.too_large(1'000);
  EXPECT_EQ(window.bytes(), 64u * 1024);
}

}  // namespace
}  // namespace lockstep
