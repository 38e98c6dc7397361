// Request bodies as gzip (RFC 1952) at the fastest level: bulk requests repeat the same words so often that
// other levels save little more.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace lockstep {

/// Not thread-safe.
class GzipEncoder {
 public:
  GzipEncoder();
  ~GzipEncoder();

  /// Compresses `text`; the result is valid until the next call.
  std::string_view encode(std::string_view text);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
  std::string encoded_;
};

}  // namespace lockstep
