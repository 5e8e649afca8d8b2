#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::network {

// What programs of a sandbox may reach. A value. It only decides: who asks it must ask with the
// address that is really dialled, and with nothing but names which were really looked up.
class Policy {
 public:
  enum class Kind { none, allow, internet, host };  // each reaches no more than the next

  struct Rule {
    std::string host;              // a name in canonical form, or an address
    bool subdomains = false;       // everything beneath the name, at any depth, but not itself
    std::optional<uint16_t> port;  // without one: 80 and 443

    bool operator==(const Rule&) const = default;
  };

  // Reaches nothing.
  Policy() = default;

  // "none", "internet", "host", or "allow:" with a list of hosts:
  // "allow:example.com,*.npmjs.org:443,[2001:db8::1]:53,93.184.216.34". "allow:" alone allows
  // nothing. Error{invalid} says what is wrong and shows the forms.
  static Policy parse(std::string_view text);

  Kind kind() const { return kind_; }

  // Sorted, each rule once; empty unless the kind is `allow`.
  const std::vector<Rule>& rules() const { return rules_; }

  // parse(text()) == *this; the same for all texts that mean the same list.
  std::string text() const;

  // True if it reaches nothing that `ceiling` does not. An address that is not public is within a
  // list that has it, and within `host`.
  bool is_within(const Policy& ceiling) const;

  // True if the name may be looked up: with a list only what is on it, with `internet` and `host`
  // every host name. For what is no host name, false.
  bool allows_name(std::string_view name) const;

  // True if the address may be dialled, given the names that it was the answer for. An address on
  // the list may be private, as somebody meant exactly that; what a name leads to must be public.
  bool allows(const boost::asio::ip::address& address, uint16_t port,
              std::span<const std::string> names) const;

  bool operator==(const Policy&) const = default;

 private:
  Kind kind_ = Kind::none;
  std::vector<Rule> rules_;
};

}  // namespace belljar::network
