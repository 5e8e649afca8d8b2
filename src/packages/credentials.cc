#include "packages/credentials.h"

#include <openssl/evp.h>

#include "base/bytes.h"

namespace belljar::packages {
namespace {

std::string decode_base64(const std::string& text) {
  std::string bytes(text.size() / 4 * 3 + 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return "";
  bytes.resize(static_cast<size_t>(size));
  // OpenSSL counts the padding as bytes.
  for (size_t i = text.size(); i > 0 && text[i - 1] == '=' && !bytes.empty(); --i) bytes.pop_back();
  return bytes;
}

}  // namespace

bool Credentials::add(std::string_view key, std::string_view value) {
  if (!key.starts_with("//")) return false;
  const size_t colon = key.rfind(':');
  if (colon == std::string_view::npos || colon < 2) return false;
  const std::string_view what = key.substr(colon + 1);
  std::string_view place = key.substr(0, colon);
  while (place.ends_with('/')) place.remove_suffix(1);
  std::string Entry::*field = nullptr;
  if (what == "_authToken") field = &Entry::token;
  if (what == "_auth") field = &Entry::basic;
  if (what == "username") field = &Entry::user;
  if (what == "_password") field = &Entry::password;
  if (field == nullptr) return false;
  by_place_[std::string{place}].*field = std::string{value};
  return true;
}

std::string Credentials::header(const Entry& entry) {
  if (!entry.token.empty()) return "Bearer " + entry.token;
  if (!entry.basic.empty()) return "Basic " + entry.basic;
  if (entry.user.empty() || entry.password.empty()) return "";
  return "Basic " + base64(entry.user + ":" + decode_base64(entry.password));
}

std::string Credentials::authorization_for(const net::Url& url) const {
  const std::string path = url.target.substr(0, url.target.find('?'));
  std::string place = "//" + net::authority(url) + path;
  while (place.size() > 2) {
    while (place.ends_with('/')) place.pop_back();
    if (const auto at = by_place_.find(place); at != by_place_.end()) return header(at->second);
    const size_t slash = place.rfind('/');
    if (slash == std::string::npos || slash < 2) break;
    place.resize(slash);
  }
  return "";
}

}  // namespace belljar::packages
