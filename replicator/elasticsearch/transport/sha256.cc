#include "replicator/elasticsearch/transport/sha256.h"

#include <openssl/evp.h>

#include <new>

namespace lockstep {

Sha256 sha256(std::string_view text) {
  Sha256 digest;
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();  // it fails for nothing else
  }
  return digest;
}

}  // namespace lockstep
