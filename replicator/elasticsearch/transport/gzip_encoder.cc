#include "replicator/elasticsearch/transport/gzip_encoder.h"

#include <zlib.h>

#include <new>

namespace lockstep {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // the largest window, with gzip's header instead of zlib's
constexpr int kMemoryLevel = 8;           // zlib's default

}  // namespace

struct GzipEncoder::Stream {
  z_stream z{};
};

GzipEncoder::GzipEncoder() : stream_(std::make_unique<Stream>()) {
  const int code =
      deflateInit2(&stream_->z, Z_BEST_SPEED, Z_DEFLATED, kGzipWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY);
  if (code != Z_OK) throw std::bad_alloc();
}

GzipEncoder::~GzipEncoder() {
  deflateEnd(&stream_->z);
}

std::string_view GzipEncoder::encode(std::string_view text) {
  z_stream& z = stream_->z;
  deflateReset(&z);
  encoded_.resize(deflateBound(&z, static_cast<uLong>(text.size())));
  z.next_out = reinterpret_cast<Bytef*>(encoded_.data());
  z.avail_out = static_cast<uInt>(encoded_.size());
  // zlib does not write through next_in; the const is missing there.
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  deflate(&z, Z_FINISH);  // in one step: there is room for deflateBound() bytes
  encoded_.resize(z.total_out);
  return encoded_;
}

}  // namespace lockstep
