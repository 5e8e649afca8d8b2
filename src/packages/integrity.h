#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace belljar::packages {

// What a file must hash to: the strongest entry of a Subresource Integrity string that we know.
struct Integrity {
  std::string algorithm;  // "sha512", "sha384", "sha256" or "sha1"
  std::string digest;     // base64
};

// "sha512-… sha1-…" → the sha512 entry. Nothing if there is no entry that we know.
std::optional<Integrity> parse_integrity(std::string_view text);

// The hexadecimal sha1 (`shasum`) that very old packages have instead.
std::optional<Integrity> integrity_from_shasum(std::string_view hex);

// True if the whole file has that hash. Reads it from its start; blocks, so call it by
// run_blocking().
bool matches(int fd, const Integrity& integrity);

}  // namespace belljar::packages
