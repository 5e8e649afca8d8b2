// What a program says to a host that has a secret: the start of TLS, or requests → what the host
// gets.
#include "fuzz.h"
#include "network/client_hello.h"
#include "network/host_name.h"
#include "network/request_filter.h"

namespace belljar::network {
namespace {

using fuzz::expect;

struct Filtered {
  std::string bytes;
  bool is_refused = false;
};

Filtered filter(std::string_view input, const Secret& secret, size_t piece, bool agreed) {
  RequestFilter filter{{"api.test", 443}, {&secret}};
  Filtered result;
  for (size_t at = 0; at < input.size(); at += piece) {
    result.bytes += filter.feed(input.substr(at, piece));
    if (filter.awaits_answer()) result.bytes += filter.answered(agreed);
  }
  result.is_refused = filter.refusal().has_value();
  return result;
}

void check_head(const std::string& head) {
  int hosts = 0;
  for (size_t at = head.find("\r\n"); at != std::string::npos; at = head.find("\r\n", at)) {
    at += 2;
    const std::string line = lower_ascii(head.substr(at, head.find("\r\n", at) - at));
    expect(line.find_first_of("\r\n") == std::string::npos, "a line ends as lines end");
    if (line.starts_with("host:")) ++hosts;
    if (line.starts_with("authorization:"))
      expect(line.find("s3cret") != std::string::npos, "no other credentials reach the host");
  }
  expect(hosts == 1, "a request is to the host");
}

void check_requests(std::string_view input) {
  Secret secret;
  secret.name = "x";
  secret.value = "S3CRET";
  for (const bool agreed : {false, true}) {
    const Filtered whole = filter(input, secret, input.size() + 1, agreed);
    const Filtered bytes = filter(input, secret, 1, agreed);
    expect(whole.is_refused == bytes.is_refused, "pieces do not matter");
    for (const Filtered* filtered : {&whole, &bytes}) {
      if (filtered->bytes.empty()) continue;
      const size_t end = filtered->bytes.find("\r\n\r\n");
      expect(end != std::string::npos, "a head is sent as a whole");
      check_head(filtered->bytes.substr(0, end));
    }
  }
}

void check_hello(std::string_view input) {
  const FirstBytes whole = read_client_hello(input);
  expect(whole.kind == FirstBytes::Kind::tls || whole.server_name.empty(), "only TLS has a name");
  expect(whole.server_name.size() <= input.size(), "a name was in the bytes");
  // What is decided is decided, however much follows.
  if (whole.kind == FirstBytes::Kind::incomplete) return;
  const FirstBytes more = read_client_hello(std::string{input} + "more");
  expect(more.kind == whole.kind && more.server_name == whole.server_name, "more changes nothing");
}

}  // namespace
}  // namespace belljar::network

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = belljar::fuzz::text_of(data, size);
  belljar::network::check_hello(input);
  belljar::network::check_requests(input);
  return 0;
}
