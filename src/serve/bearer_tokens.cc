#include "serve/bearer_tokens.h"

#include <openssl/crypto.h>
#include <sys/random.h>

#include <algorithm>

#include "base/error.h"
#include "base/sha256.h"
#include "serve/base64url.h"

namespace belljar::serve {

namespace {

constexpr size_t kDigits = 64;

bool is_token_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view{"-._~+/="}.find(c) != std::string_view::npos;
}

}  // namespace

std::string sha256_of(std::string_view text) {
  Sha256 sum;
  sum.add(text);
  return sum.finish();
}

std::string random_token() {
  std::string bytes(32, '\0');
  sys(::getrandom(bytes.data(), bytes.size(), 0), "read random bytes");
  return base64url(bytes);
}

void BearerTokens::add(std::string owner, std::string sha256) {
  if (sha256.size() != kDigits) fail(Code::internal, "a SHA-256 has 64 hexadecimal digits");
  tokens_.push_back(Token{std::move(owner), std::move(sha256)});
}

std::optional<std::string> BearerTokens::owner_of(std::string_view token) const {
  const std::string wanted = sha256_of(token);
  const Token* found = nullptr;
  for (const Token& known : tokens_) {  // to the end, whichever it is
    if (CRYPTO_memcmp(known.sha256.data(), wanted.data(), kDigits) == 0) found = &known;
  }
  return found != nullptr ? std::optional{found->owner} : std::nullopt;
}

std::optional<std::string_view> bearer_of(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  constexpr size_t kMost = 16u << 10;
  if (authorization.size() <= kScheme.size() || authorization.size() > kMost) return std::nullopt;
  const auto same = [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); };
  if (!std::equal(kScheme.begin(), kScheme.end(), authorization.begin(), same)) return std::nullopt;
  authorization.remove_prefix(kScheme.size());
  while (authorization.starts_with(' ')) authorization.remove_prefix(1);
  if (authorization.empty() ||
      !std::all_of(authorization.begin(), authorization.end(), is_token_character)) {
    return std::nullopt;
  }
  return authorization;
}

}  // namespace belljar::serve
