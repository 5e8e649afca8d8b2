#include "base/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <span>

#include "base/error.h"

namespace belljar {

Sha256::Sha256() : context_{EVP_MD_CTX_new(), EVP_MD_CTX_free} {
  if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
    fail(Code::unavailable, "OpenSSL cannot compute SHA-256");
}

void Sha256::add(std::string_view bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
}

std::string Sha256::finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context_.get(), digest, &size);
  std::string text;
  for (const unsigned char byte : std::span{digest, size}) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace belljar
