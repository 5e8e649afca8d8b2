#include "packages/integrity.h"

#include <openssl/evp.h>

#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace belljar::packages {
namespace {

constexpr std::string_view kStrongestFirst[] = {"sha512", "sha384", "sha256", "sha1"};

size_t digest_size(std::string_view algorithm) {
  if (algorithm == "sha512") return 64;
  if (algorithm == "sha384") return 48;
  return algorithm == "sha256" ? 32 : 20;
}

}  // namespace

std::optional<Integrity> parse_integrity(std::string_view text) {
  for (const std::string_view algorithm : kStrongestFirst) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find_first_of(" \t\n"), rest.size());
      std::string_view word = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      word = word.substr(0, word.find('?'));  // options mean nothing yet
      if (!word.starts_with(algorithm) || word.substr(algorithm.size(), 1) != "-") continue;
      word.remove_prefix(algorithm.size() + 1);
      if (word.size() != (digest_size(algorithm) + 2) / 3 * 4) continue;
      return Integrity{std::string{algorithm}, std::string{word}};
    }
  }
  return std::nullopt;
}

std::optional<Integrity> integrity_from_shasum(std::string_view hex) {
  if (hex.size() != 40) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    unsigned value = 0;
    for (const char c : hex.substr(i, 2)) {
      if (c >= '0' && c <= '9')
        value = value * 16 + static_cast<unsigned>(c - '0');
      else if (c >= 'a' && c <= 'f')
        value = value * 16 + static_cast<unsigned>(c - 'a') + 10;
      else
        return std::nullopt;
    }
    bytes += static_cast<char>(value);
  }
  return Integrity{"sha1", base64(bytes)};
}

bool matches(int fd, const Integrity& integrity) {
  const EVP_MD* algorithm = EVP_get_digestbyname(integrity.algorithm.c_str());
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
  if (algorithm == nullptr || !hash || EVP_DigestInit_ex(hash.get(), algorithm, nullptr) != 1)
    fail(Code::unavailable, "OpenSSL cannot compute {}", integrity.algorithm);
  std::vector<char> buffer(256u << 10);
  off_t offset = 0;
  while (const ssize_t count =
             sys(::pread(fd, buffer.data(), buffer.size(), offset), "read the downloaded file")) {
    EVP_DigestUpdate(hash.get(), buffer.data(), static_cast<size_t>(count));
    offset += count;
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(hash.get(), digest, &size);
  return base64({reinterpret_cast<const char*>(digest), size}) == integrity.digest;
}

}  // namespace belljar::packages
