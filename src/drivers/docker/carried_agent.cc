#include "drivers/docker/carried_agent.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "base/log.h"
#include "drivers/docker/agent_listener.h"

namespace belljar::docker {

using agent::Carrier;

namespace {

std::pair<Fd, Fd> make_packets() {
  int ends[2];
  sys(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
      "make a socket for the agent");
  return {Fd{ends[0]}, Fd{ends[1]}};
}

Fd copy_of(int fd) {
  return Fd{sys(::fcntl(fd, F_DUPFD_CLOEXEC, 0), "copy a descriptor")};
}

std::unique_ptr<Carrier> make_carrier(Fd attached, const Fd& packets, Carrier::Host host) {
  Carrier::Ends ends;
  ends.output = copy_of(attached.get());
  ends.input = std::move(attached);
  ends.packets = copy_of(packets.get());
  return std::make_unique<Carrier>(Carrier::of_belljar(std::move(ends), std::move(host)));
}

}  // namespace

CarriedAgent::CarriedAgent(const asio::any_io_executor& executor, Fd attached, Carrier::Host host)
    : CarriedAgent{executor, std::move(attached), std::move(host), make_packets()} {}

CarriedAgent::CarriedAgent(const asio::any_io_executor& executor, Fd attached, Carrier::Host host,
                           std::pair<Fd, Fd> packets)
    : packets_{executor, packets.first.release()},
      held_{std::move(packets.second)},
      carrier_{make_carrier(std::move(attached), held_, std::move(host))},
      ready_{executor, copy_of(carrier_->handle()).release()} {
  work_when_ready();
}

CarriedAgent::~CarriedAgent() {
  *exists_ = false;
}

void CarriedAgent::work_when_ready() {
  ready_.async_wait(asio::posix::stream_descriptor::wait_read,
                    [this, exists = exists_](const boost::system::error_code& error) {
                      if (*exists && !error) work();
                    });
}

void CarriedAgent::work() {
  if (carrier_->work()) return work_when_ready();
  carrier_.reset();  // closes the stream: the agent ends, if it has not yet
  if (!end_handler_) return held_.reset();
  const auto handler = std::exchange(end_handler_, nullptr);
  handler();
}

void CarriedAgent::on_end(std::function<void()> handler) {
  if (!carrier_) return handler();
  end_handler_ = std::move(handler);
}

Task<std::unique_ptr<AgentClient>> CarriedAgent::accept() {
  auto hello = co_await read_hello(packets_, Way::carried);
  if (!hello) co_return nullptr;
  Fd socket{packets_.release()};
  co_return std::make_unique<AgentClient>(packets_.get_executor(), std::move(socket),
                                          std::move(*hello));
}

}  // namespace belljar::docker
