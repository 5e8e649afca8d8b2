#include "tools/publishing.h"

#include "network/published_port.h"

namespace belljar::tools {

namespace {

constexpr size_t kMaxPorts = 32;  // of one sandbox: the host has only so many

}  // namespace

Parameter port_parameter(std::string name, std::string purpose) {
  return Parameter{.name = std::move(name),
                   .type = Parameter::Type::integer,
                   .description = std::move(purpose),
                   .min = 0,
                   .max = 65535};
}

std::optional<uint16_t> read_port(const Arguments& arguments, const std::string& name) {
  if (!arguments.has(name)) return std::nullopt;
  const int64_t port = arguments.integer(name);
  if (port != 0 && port < network::kFirstPort) {
    fail(Code::invalid, "argument \"{}\" is {}; it must be 0 or an integer from {} to 65535", name,
         port, network::kFirstPort);
  }
  return static_cast<uint16_t>(port);
}

uint16_t publish_port(const Lease& lease, uint16_t port, const asio::ip::address& address,
                      const asio::any_io_executor& executor) {
  auto& ports = lease.ports();
  if (ports.contains(port)) return port;
  if (ports.size() >= kMaxPorts) {
    fail(Code::exhausted,
         "this sandbox has {} published ports, which is the limit; use one of them again, or "
         "another sandbox",
         ports.size());
  }
  network::TakenPort taken = network::take_port(address, port);
  const uint16_t number = taken.number;
  Sandbox& sandbox = lease.sandbox();  // ends after the port does
  const auto connect = [&sandbox, number] { return sandbox.connect(number); };
  ports[number] = std::make_shared<network::PublishedPort>(executor, std::move(taken), connect);
  return number;
}

}  // namespace belljar::tools
