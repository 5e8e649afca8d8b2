#include "serve/observed_exchange.h"

namespace belljar::serve {

Task<std::string> ObservedExchange::read_body(size_t most) {
  std::string body = co_await exchange_.read_body(most);
  received_ += body.size();
  co_return body;
}

Task<> ObservedExchange::answer(net::HttpAnswer answer) {
  status_ = answer.status;
  sent_ += answer.body.size();
  co_await exchange_.answer(std::move(answer));
}

Task<> ObservedExchange::begin(int status, net::HttpHeaders headers) {
  status_ = status;
  co_await exchange_.begin(status, std::move(headers));
}

Task<> ObservedExchange::write(std::string_view bytes) {
  sent_ += bytes.size();
  co_await exchange_.write(bytes);
}

}  // namespace belljar::serve
