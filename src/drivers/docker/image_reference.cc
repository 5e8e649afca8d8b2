#include "drivers/docker/image_reference.h"

#include <fmt/format.h>

#include <algorithm>

namespace belljar::docker {
namespace {

constexpr size_t kLongestName = 255;
constexpr size_t kLongestWord = 128;  // a tag, or the name of a container
constexpr std::string_view kDefaultRegistry = "docker.io";

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}

// Letters, digits, '_', '.' and '-', beginning with a letter, a digit or one of `more`.
bool is_word(std::string_view text, std::string_view more) {
  if (text.empty() || text.size() > kLongestWord) return false;
  if (!is_letter(text[0]) && !is_digit(text[0]) && more.find(text[0]) == more.npos) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-';
  });
}

// "node", "my-node", "a.b", "a__b": runs of lower-case letters and digits with separators between.
bool is_component(std::string_view text) {
  size_t at = 0;
  while (true) {
    const size_t run = at;
    while (at < text.size() && (is_lower(text[at]) || is_digit(text[at]))) ++at;
    if (at == run) return false;
    if (at == text.size()) return true;
    const char mark = text[at];
    const size_t separator = at;
    while (at < text.size() && text[at] == mark) ++at;
    const size_t length = at - separator;
    const bool is_separator =
        mark == '-' || (mark == '.' && length == 1) || (mark == '_' && length <= 2);
    if (!is_separator) return false;
  }
}

bool is_path(std::string_view text) {
  while (true) {
    const size_t slash = text.find('/');
    if (!is_component(text.substr(0, slash))) return false;
    if (slash == text.npos) return true;
    text.remove_prefix(slash + 1);
  }
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && std::all_of(text.begin(), text.end(), is_digit);
}

// Labels of letters, digits and inner dashes, with dots between; then perhaps a port.
bool is_registry(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon != text.npos && !is_port(text.substr(colon + 1))) return false;
  text = text.substr(0, colon);
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (label.empty() || label.front() == '-' || label.back() == '-') return false;
    const bool is_plain = std::all_of(
        label.begin(), label.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
    if (!is_plain) return false;
    if (dot == text.npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// As engines decide it: the part before the first slash is a host if it looks like one.
bool names_registry(std::string_view first) {
  return first == "localhost" || first.find_first_of(".:") != first.npos ||
         std::any_of(first.begin(), first.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

std::string canonical_registry(std::string_view host) {
  std::string name{host};
  std::transform(name.begin(), name.end(), name.begin(), to_lower);
  return name == "index.docker.io" ? std::string{kDefaultRegistry} : name;
}

std::string ImageReference::home() const {
  return registry.empty() ? std::string{kDefaultRegistry} : canonical_registry(registry);
}

std::string ImageReference::full_repository() const {
  if (home() != kDefaultRegistry) return repository();
  const bool is_official = path.find('/') == std::string::npos;
  return fmt::format("{}/{}{}", kDefaultRegistry, is_official ? "library/" : "", path);
}

bool is_digest(std::string_view text) {
  constexpr std::string_view kPrefix = "sha256:";
  return text.size() == kPrefix.size() + 64 && text.substr(0, kPrefix.size()) == kPrefix &&
         std::all_of(text.begin() + kPrefix.size(), text.end(),
                     [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_container_name(std::string_view text) {
  return is_word(text, "");
}

std::optional<ImageReference> parse_image_reference(std::string_view text) {
  if (text.size() > kLongestName) return std::nullopt;
  ImageReference reference;
  if (const size_t at = text.find('@'); at != text.npos) {
    reference.digest = text.substr(at + 1);
    if (!is_digest(reference.digest)) return std::nullopt;
    text = text.substr(0, at);
  }
  const size_t slash = text.find('/');
  if (slash != text.npos && names_registry(text.substr(0, slash))) {
    reference.registry = text.substr(0, slash);
    if (!is_registry(reference.registry)) return std::nullopt;
    text.remove_prefix(slash + 1);
  }
  if (const size_t colon = text.find(':'); colon != text.npos) {
    reference.tag = text.substr(colon + 1);
    if (!is_word(reference.tag, "_")) return std::nullopt;
    text = text.substr(0, colon);
  }
  if (!is_path(text)) return std::nullopt;
  reference.path = text;
  return reference;
}

}  // namespace belljar::docker
