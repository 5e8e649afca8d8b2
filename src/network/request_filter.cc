#include "network/request_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "network/host_name.h"

namespace belljar::network {

namespace {

bool are_equal(std::string_view one, std::string_view other) {
  return lower_ascii(one) == lower_ascii(other);
}

bool asks_for_websocket(const net::RequestHead& head) {
  const auto upgrades = head.all("Upgrade");
  return head.method == "GET" && upgrades.size() == 1 && are_equal(upgrades[0], "websocket");
}

bool is_in_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         c == '-';
}

// Puts `to` in for every `from` that is not the beginning of something longer. False if there is
// none.
bool replace(std::string& text, const std::string& from, const std::string& to) {
  bool found = false;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    const size_t end = at + from.size();
    const bool is_longer = end < text.size() && is_in_name(text[end]);
    if (!is_longer) text.replace(at, from.size(), to);
    at += is_longer ? 1 : to.size();
    found = found || !is_longer;
  }
  return found;
}

// Headers that are between this process and the program. No other protocol is spoken with the host
// than those that are understood here, and trailers are not passed on.
bool is_about_connection(std::string_view name) {
  for (const char* other :
       {"Connection", "HTTP2-Settings", "Keep-Alive", "TE", "Trailer", "Upgrade"}) {
    if (are_equal(name, other)) return true;
  }
  return false;
}

bool wants_to_close(const net::RequestHead& head) {
  if (head.version == 10) return true;
  for (const std::string_view value : head.all("Connection")) {
    if (lower_ascii(value).find("close") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

RequestFilter::RequestFilter(Secret::Host host, std::vector<const Secret*> secrets)
    : host_{std::move(host)}, secrets_{std::move(secrets)} {}

std::string RequestFilter::feed(std::string_view bytes) {
  if (refusal_) return "";
  if (mode_ == Mode::websocket) return std::string{bytes};
  try {
    parser_.feed(bytes);
    return go_on();
  } catch (const Error& e) {
    refuse(400, e.what());
    return "";
  }
}

std::string RequestFilter::answered(bool agreed) {
  if (agreed) {
    mode_ = Mode::websocket;
    return parser_.take_rest();
  }
  mode_ = Mode::http;
  try {
    parser_.next();
    return go_on();
  } catch (const Error& e) {
    refuse(400, e.what());
    return "";
  }
}

std::string RequestFilter::go_on() {
  std::string out;
  while (mode_ == Mode::http && parser_.has_head()) {
    if (!head_sent_) {
      has_request_ = true;
      check(parser_.head());
      if (refusal_) return out;
      out += write_head(parser_.head());
      head_sent_ = true;
      if (is_first_ && asks_for_websocket(parser_.head())) mode_ = Mode::asked;
      is_first_ = false;
    }
    out += body();
    if (!parser_.is_done()) break;
    head_sent_ = false;
    if (mode_ == Mode::asked) break;
    parser_.next();
  }
  return out;
}

std::string RequestFilter::body() {
  std::string bytes = parser_.take_body();
  if (!parser_.is_chunked()) return bytes;
  std::string out;
  if (!bytes.empty()) out = fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
  if (parser_.is_done()) out += "0\r\n\r\n";
  return out;
}

void RequestFilter::refuse(int status, std::string why) {
  has_request_ = true;
  refusal_ = Refusal{status, std::move(why)};
}

void RequestFilter::check(const net::RequestHead& head) {
  if (head.method == "TRACE" || head.method == "CONNECT")
    return refuse(405, head.method + " is not possible with a host that has a secret");
  const bool of_server = head.method == "OPTIONS" && head.target == "*";
  if (!head.target.starts_with('/') && !of_server)
    return refuse(400, "the target of a request must be a path");
  // Many hosts share an address, and some share a certificate.
  const auto names = head.all("Host");
  const bool is_host =
      names.size() == 1 && (are_equal(names[0], fmt::format("{}:{}", host_.name, host_.port)) ||
                            (host_.port == 443 && are_equal(names[0], host_.name)));
  if (!is_host) refuse(421, fmt::format("the header Host must be {}", host_.name));
}

// What the host gets for a header; nothing if it does not get it.
std::optional<std::string> RequestFilter::value_of(const std::string& header,
                                                   const std::string& value) const {
  bool is_guarded = false;
  bool has_secret = false;
  std::string result = value;
  for (const Secret* secret : secrets_) {
    if (!are_equal(secret->header, header)) continue;
    is_guarded = true;
    if (replace(result, secret->placeholder(), secret->value)) has_secret = true;
  }
  if (is_guarded && !has_secret) return std::nullopt;
  return result;
}

std::string RequestFilter::write_head(const net::RequestHead& head) {
  const bool websocket = is_first_ && asks_for_websocket(head);
  std::string out = fmt::format("{} {} HTTP/1.{}\r\n", head.method, head.target, head.version - 10);
  for (const auto& [name, value] : head.headers) {
    if (is_about_connection(name)) continue;
    if (const auto sent = value_of(name, value)) out += name + ": " + *sent + "\r\n";
  }
  if (websocket) {
    out += "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  } else if (wants_to_close(head)) {
    out += "Connection: close\r\n";
  }
  return out + "\r\n";
}

}  // namespace belljar::network
