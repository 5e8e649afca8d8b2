#include "network/policy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

#include "base/error.h"
#include "base/utf8.h"
#include "network/address_class.h"
#include "network/host_name.h"

namespace belljar::network {

namespace {

using boost::asio::ip::address;
using Rule = Policy::Rule;

constexpr size_t kMostRules = 64;
constexpr size_t kShown = 80;  // bytes of a bad entry in an error
constexpr std::string_view kAllow = "allow:";
constexpr std::array<uint16_t, 2> kUsualPorts{80, 443};

constexpr std::string_view kForms =
    "a network policy is none, internet, host, or allow: with hosts, such as "
    "allow:example.com,*.npmjs.org:443,[2001:db8::1]:53,93.184.216.34 (without a port: 80 and 443)";

struct KindName {
  Policy::Kind kind;
  std::string_view name;
};

constexpr KindName kKinds[] = {
    {Policy::Kind::none, "none"},
    {Policy::Kind::internet, "internet"},
    {Policy::Kind::host, "host"},
};

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  const std::string_view start = text.substr(0, utf8_prefix(text, kShown));
  fail(Code::invalid, "\"{}{}\" {}; {}", to_utf8(start), start.size() < text.size() ? "…" : "", why,
       kForms);
}

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// An address of this host's interfaces only (%eth0) means nothing in a policy.
std::optional<address> parse_address(std::string_view text) {
  boost::system::error_code error;
  const address parsed = boost::asio::ip::make_address(std::string{text}, error);
  if (error || text.find('%') != std::string_view::npos) return std::nullopt;
  return unmapped(parsed);
}

uint16_t parse_port(std::string_view text, std::string_view entry) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0)
    refuse(entry, "has a port that is no number from 1 to 65535");
  return port;
}

Rule parse_ipv6_rule(std::string_view entry) {
  const size_t end = entry.find(']');
  if (end == std::string_view::npos) refuse(entry, "has no closing bracket");
  const std::string_view inside = entry.substr(1, end - 1);
  const auto literal = parse_address(inside);
  if (!literal || inside.find(':') == std::string_view::npos)
    refuse(entry, "has no IPv6 address in its brackets");
  Rule rule{literal->to_string(), false, std::nullopt};
  const std::string_view rest = entry.substr(end + 1);
  if (rest.empty()) return rule;
  if (!rest.starts_with(':')) refuse(entry, "has something other than a port after its bracket");
  rule.port = parse_port(rest.substr(1), entry);
  return rule;
}

Rule parse_rule(std::string_view entry) {
  if (entry.empty()) refuse(entry, "is no host: there is nothing before or after a comma");
  if (entry.starts_with('[')) return parse_ipv6_rule(entry);
  Rule rule;
  std::string_view host = entry;
  if (const size_t colon = entry.find(':'); colon != std::string_view::npos) {
    if (parse_address(entry)) refuse(entry, "is an IPv6 address, which needs brackets");
    rule.port = parse_port(entry.substr(colon + 1), entry);
    host = entry.substr(0, colon);
  }
  if (const auto literal = parse_address(host)) {
    rule.host = literal->to_string();
    return rule;
  }
  if (host.starts_with("*.")) {
    rule.subdomains = true;
    host.remove_prefix(2);
  }
  if (host.find('*') != std::string_view::npos)
    refuse(entry, "has a * that is not in front of a name, as in *.example.com");
  if (host.ends_with('.')) host.remove_suffix(1);
  if (const std::string_view why = why_no_host_name(host); !why.empty()) refuse(entry, why);
  rule.host = lower_ascii(host);
  return rule;
}

std::vector<Rule> parse_rules(std::string_view list) {
  std::vector<Rule> rules;
  if (trim(list).empty()) return rules;
  for (;;) {
    const size_t comma = list.find(',');
    rules.push_back(parse_rule(trim(list.substr(0, comma))));
    if (rules.size() > kMostRules)
      fail(Code::invalid, "a network policy has at most {} hosts; this one has more", kMostRules);
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  const auto before = [](const Rule& a, const Rule& b) {
    return std::tie(a.host, a.subdomains, a.port) < std::tie(b.host, b.subdomains, b.port);
  };
  std::sort(rules.begin(), rules.end(), before);
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

std::string to_text(const Rule& rule) {
  const bool ipv6 = rule.host.find(':') != std::string::npos;
  std::string text = ipv6 ? "[" + rule.host + "]" : (rule.subdomains ? "*." : "") + rule.host;
  if (rule.port) text += fmt::format(":{}", *rule.port);
  return text;
}

std::span<const uint16_t> ports(const Rule& rule) {
  if (rule.port) return {&*rule.port, 1};
  return kUsualPorts;
}

bool has_port(const Rule& rule, uint16_t port) {
  const auto all = ports(rule);
  return std::find(all.begin(), all.end(), port) != all.end();
}

bool matches_name(const Rule& rule, std::string_view name) {
  return rule.subdomains ? is_beneath(name, rule.host) : name == rule.host;
}

// Everything that `rule` means by its host is what `ceiling` means by its own.
bool covers_host(const Rule& ceiling, const Rule& rule) {
  if (ceiling.host == rule.host) return ceiling.subdomains == rule.subdomains;
  return ceiling.subdomains && is_beneath(rule.host, ceiling.host);
}

// Port by port: one rule of the ceiling may have 80 and another 443.
bool covers(std::span<const Rule> ceiling, const Rule& rule) {
  const auto all = ports(rule);
  return std::all_of(all.begin(), all.end(), [&](uint16_t port) {
    return std::any_of(ceiling.begin(), ceiling.end(), [&](const Rule& other) {
      return covers_host(other, rule) && has_port(other, port);
    });
  });
}

bool reaches_only_public(const Rule& rule) {
  const auto literal = parse_address(rule.host);
  return !literal || is_public(*literal);
}

}  // namespace

Policy Policy::parse(std::string_view text) {
  Policy policy;
  for (const auto& [kind, name] : kKinds) {
    if (text != name) continue;
    policy.kind_ = kind;
    return policy;
  }
  if (!text.starts_with(kAllow)) refuse(text, "is no network policy");
  policy.kind_ = Kind::allow;
  policy.rules_ = parse_rules(text.substr(kAllow.size()));
  return policy;
}

std::string Policy::text() const {
  for (const auto& [kind, name] : kKinds) {
    if (kind == kind_) return std::string{name};
  }
  std::string text{kAllow};
  for (const Rule& rule : rules_) text += (&rule == &rules_.front() ? "" : ",") + to_text(rule);
  return text;
}

bool Policy::is_within(const Policy& ceiling) const {
  if (kind_ == Kind::none || ceiling.kind_ == Kind::host) return true;
  if (kind_ != Kind::allow) return kind_ == ceiling.kind_;
  return std::all_of(rules_.begin(), rules_.end(), [&ceiling](const Rule& rule) {
    return ceiling.kind_ == Kind::internet ? reaches_only_public(rule)
                                           : covers(ceiling.rules_, rule);
  });
}

bool Policy::allows_name(std::string_view name) const {
  const auto canonical = canonical_name(name);
  if (!canonical || kind_ == Kind::none) return false;
  if (kind_ != Kind::allow) return true;
  return std::any_of(rules_.begin(), rules_.end(),
                     [&canonical](const Rule& rule) { return matches_name(rule, *canonical); });
}

bool Policy::allows(const address& any, uint16_t port, std::span<const std::string> names) const {
  if (kind_ == Kind::none || kind_ == Kind::host) return kind_ == Kind::host;
  const address plain = unmapped(any);
  if (kind_ == Kind::internet) return is_public(plain);
  std::vector<std::string> hosts{plain.to_string()};
  for (const std::string& name : names) {
    auto canonical = is_public(plain) ? canonical_name(name) : std::nullopt;
    if (canonical) hosts.push_back(*std::move(canonical));
  }
  return std::any_of(rules_.begin(), rules_.end(), [&hosts, port](const Rule& rule) {
    return has_port(rule, port) && std::any_of(hosts.begin(), hosts.end(), [&](const auto& host) {
             return matches_name(rule, host);
           });
  });
}

}  // namespace belljar::network
