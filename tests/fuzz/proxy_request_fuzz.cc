// What a program in a container asks its proxy for → where that leads, and what the host gets.
#include "fuzz.h"
#include "network/host_name.h"
#include "network/proxy_request.h"

namespace belljar::network {
namespace {

using fuzz::expect;

void check(std::string_view head) {
  const ProxyRequest request = read_proxy_request(head);
  expect(request.port != 0, "a place has a port");
  if (request.address) {
    expect(request.host == request.address->to_string(), "an address is shown as it is");
    const bool is_disguised = request.address->is_v6() && request.address->to_v6().is_v4_mapped();
    expect(!is_disguised, "an address has no disguise");
  } else {
    expect(canonical_name(request.host) == request.host, "a host has one spelling");
  }
  if (request.is_tunnel()) return;
  expect(request.head.ends_with("\r\n\r\n"), "a head has its end");
  const std::string lower = lower_ascii(request.head);
  size_t hosts = 0;
  for (size_t at = 0; (at = lower.find("\r\nhost:", at)) != std::string::npos; ++at) ++hosts;
  expect(hosts == 1, "a request is to one host");
  expect(lower.find("\r\nproxy-authorization:") == std::string::npos, "logins stay here");
  expect(request.head.find("\r\n\r\n") == request.head.size() - 4, "a request has one head");
}

}  // namespace
}  // namespace belljar::network

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::fuzz::may_refuse([=] { belljar::network::check(belljar::fuzz::text_of(data, size)); });
  return 0;
}
