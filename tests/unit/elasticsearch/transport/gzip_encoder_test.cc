#include "replicator/elasticsearch/transport/gzip_encoder.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>

namespace lockstep {
namespace {

std::string decoded(std::string_view gzip) {
  z_stream z{};
  EXPECT_EQ(inflateInit2(&z, 15 + 16), Z_OK);
  std::string input(gzip);
  std::string text(8 * 1024 * 1024, '\0');
  z.next_in = reinterpret_cast<Bytef*>(input.data());
  z.avail_in = static_cast<uInt>(input.size());
  z.next_out = reinterpret_cast<Bytef*>(text.data());
  z.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&z, Z_FINISH), Z_STREAM_END);
  text.resize(z.total_out);
  inflateEnd(&z);
  return text;
}

TEST(GzipEncoderTest, WhatComesOutIsWhatWentIn) {
  GzipEncoder encoder;
  std::string bulk;
  for (int i = 0; i < 50'000; ++i)
    bulk += R"({"index":{"_index":"posts","_id":")" + std::to_string(i) + "\"}}\n";
  std::string noise;
  std::uint32_t state = 1;
  for (int i = 0; i < 3'000'000; ++i)
    noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  for (const std::string& text : {bulk, noise, std::string(), std::string("x"), bulk}) {
    EXPECT_EQ(decoded(encoder.encode(text)), text) << "of " << text.size() << " bytes";
  }
  EXPECT_LT(encoder.encode(bulk).size(), bulk.size() / 5);
}

}  // namespace
}  // namespace lockstep
