#pragma once

#include "net/http_exchange.h"
#include "observe/metrics.h"

namespace belljar::serve {

// An exchange of which the status and the bytes are noted.
class ObservedExchange final : public net::HttpExchange {
 public:
  explicit ObservedExchange(net::HttpExchange& exchange) : exchange_{exchange} {}

  const net::HttpServerRequest& request() const override { return exchange_.request(); }
  Task<std::string> read_body(size_t most) override;
  Task<> answer(net::HttpAnswer answer) override;
  Task<> begin(int status, net::HttpHeaders headers) override;
  Task<> write(std::string_view bytes) override;
  Task<> finish() override { return exchange_.finish(); }
  Task<size_t> read_raw(std::span<char> buffer) override { return exchange_.read_raw(buffer); }
  Task<> until_gone() override { return exchange_.until_gone(); }

  int status() const { return status_; }  // 0: there was no answer
  uint64_t received() const { return received_; }
  uint64_t sent() const { return sent_; }  // of bodies

 private:
  net::HttpExchange& exchange_;
  int status_ = 0;
  uint64_t received_ = 0;
  uint64_t sent_ = 0;
};

}  // namespace belljar::serve
