#include "mcp/request_state.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/id.h"
#include "base/sha256.h"

namespace belljar::mcp {

namespace {

constexpr std::chrono::hours kLifetime{1};

int64_t seconds_of(RequestStates::Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

bool is_per_round(std::string_view key) {
  return key == "_meta" || key == "inputResponses" || key == "requestState";
}

// Text with its length before it, so that no two lists of texts look the same.
void add_text(Sha256& hash, std::string_view text) {
  hash.add(fmt::format("{}:", text.size()));
  hash.add(text);
}

// Depth is bounded by that of a message.
void add_value(Sha256& hash, const json::value& value) {
  if (const json::array* items = value.if_array()) {
    hash.add(fmt::format("[{}", items->size()));
    for (const json::value& item : *items) add_value(hash, item);
  } else if (const json::object* members = value.if_object()) {
    std::vector<std::string_view> keys;
    for (const auto& member : *members) keys.push_back(member.key());
    std::ranges::sort(keys);
    hash.add(fmt::format("{{{}", keys.size()));
    for (const std::string_view key : keys) {
      add_text(hash, key);
      add_value(hash, members->at(key));
    }
  } else {
    add_text(hash, json::serialize(value));
  }
}

}  // namespace

RequestStates::RequestStates() : key_{random_hex(32)} {}

std::string RequestStates::sign(std::string_view binding, std::string_view payload) const {
  const std::string text = fmt::format("{}:{}{}", binding.size(), binding, payload);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()), bytes, text.size(), digest,
           &size) == nullptr) {
    fail(Code::unavailable, "OpenSSL cannot compute HMAC-SHA-256");
  }
  return {reinterpret_cast<const char*>(digest), size};
}

std::string RequestStates::seal(std::string_view binding, std::string_view state, Time now) const {
  const std::string payload = fmt::format("{}:{}", seconds_of(now + kLifetime), state);
  return base64(sign(binding, payload)) + "." + base64(payload);
}

std::optional<std::string> RequestStates::open(std::string_view binding, std::string_view sealed,
                                               Time now) const {
  const size_t dot = sealed.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto signature = parse_base64(sealed.substr(0, dot));
  const auto payload = parse_base64(sealed.substr(dot + 1));
  if (!signature || !payload) return std::nullopt;
  const std::string expected = sign(binding, *payload);
  if (signature->size() != expected.size() ||
      CRYPTO_memcmp(signature->data(), expected.data(), expected.size()) != 0) {
    return std::nullopt;
  }
  // From here on it is what seal() wrote.
  const size_t colon = payload->find(':');
  int64_t expiry = 0;
  std::from_chars(payload->data(), payload->data() + colon, expiry);
  if (seconds_of(now) > expiry) return std::nullopt;
  return payload->substr(colon + 1);
}

std::string bind_request(std::string_view owner, std::string_view method,
                         const json::object& params) {
  json::object lasting;
  for (const auto& member : params) {
    if (!is_per_round(member.key())) lasting.emplace(member.key(), member.value());
  }
  Sha256 hash;
  add_text(hash, owner);
  add_text(hash, method);
  add_value(hash, lasting);
  return hash.finish();
}

}  // namespace belljar::mcp
