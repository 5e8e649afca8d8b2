#include "tools/environment.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "tools/arguments.h"

namespace belljar::tools {

namespace {

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool is_name(std::string_view name) {
  const auto allowed = [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), allowed);
}

// Why a program may not have this variable set; empty if it may.
std::string_view reason_against(std::string_view name) {
  if (name.starts_with("LD_")) return "it changes which libraries every program loads";
  if (name == "NODE_OPTIONS") return "it changes how every Node.js starts";
  if (name == "NODE_EXTRA_CA_CERTS") return "it changes whom every Node.js trusts";
  if (name == "PATH" || name == "HOME") return "the sandbox sets it";
  std::string upper;
  for (const char c : name) {
    upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  for (const char* proxy : {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}) {
    if (upper == proxy) return "the way to the network is the sandbox's";
  }
  return "";
}

}  // namespace

std::string_view why_not_a_variable(std::string_view name) {
  if (!is_name(name)) return "it is not made of letters, digits and underscores";
  return reason_against(name);
}

void check_environment(const std::map<std::string, std::string>& env) {
  for (const auto& [name, value] : env) {
    if (!is_name(name)) {
      fail(Code::invalid,
           "argument \"env\" has a variable named {}; a name must consist of letters, digits and "
           "underscores and not begin with a digit",
           shown(json::value(name)));
    }
    if (const std::string_view reason = reason_against(name); !reason.empty()) {
      fail(Code::invalid, "argument \"env\" sets {}, which is not allowed: {}", name, reason);
    }
  }
}

}  // namespace belljar::tools
