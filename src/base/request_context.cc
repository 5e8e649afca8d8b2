#include "base/request_context.h"

#include <algorithm>
#include <boost/asio/execution.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <string_view>
#include <utility>

namespace belljar {

namespace {

using Request = std::shared_ptr<const RequestContext>;

thread_local Request current;

// An executor that does what another does, with a request as the current one. What Asio asks of it
// is passed on, as Asio's own adapters do it.
template <class Inner>
class ForRequest {
 public:
  ForRequest(Inner inner, Request request)
      : inner_{std::move(inner)}, request_{std::move(request)} {}

  template <class Property>
  requires asio::can_query<const Inner&, Property>::value decltype(auto) query(
      const Property& property) const {  // the context is a reference
    return asio::query(inner_, property);
  }

  template <class Property>
  requires asio::can_require<const Inner&, Property>::value auto require(
      const Property& property) const {
    return wrap(asio::require(inner_, property));
  }
  template <class Property>
  requires asio::can_prefer<const Inner&, Property>::value auto prefer(
      const Property& property) const {
    return wrap(asio::prefer(inner_, property));
  }

  template <class Function>
  void execute(Function function) const {
    inner_.execute([request = request_, function = std::move(function)]() mutable {
      const RequestScope scope{std::move(request)};
      std::move(function)();
    });
  }

  bool operator==(const ForRequest& other) const noexcept {
    return inner_ == other.inner_ && request_ == other.request_;
  }
  bool operator!=(const ForRequest& other) const noexcept { return !(*this == other); }

 private:
  template <class Other>
  ForRequest<std::decay_t<Other>> wrap(Other&& other) const {
    return {std::forward<Other>(other), request_};
  }

  Inner inner_;
  Request request_;
};

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) {
  return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

const std::shared_ptr<const RequestContext>& current_request() {
  return current;
}

RequestScope::RequestScope(Request request)
    : previous_{std::exchange(current, std::move(request))} {}

RequestScope::~RequestScope() {
  current = std::move(previous_);
}

Task<> in_request(Request request, Task<> task) {
  const asio::any_io_executor executor =
      ForRequest<asio::any_io_executor>{co_await asio::this_coro::executor, std::move(request)};
  co_await asio::co_spawn(executor, std::move(task), asio::use_awaitable);
}

bool is_traceparent(std::string_view text) {
  constexpr size_t kLength = 55;
  if (text.size() < kLength || text.size() > 128) return false;
  if (text[2] != '-' || text[35] != '-' || text[52] != '-') return false;
  const std::string_view version = text.substr(0, 2);
  if (!is_hex(version) || version == "ff") return false;
  const std::string_view rest = text.substr(kLength);
  const bool ends_well = version == "00" ? rest.empty() : rest.empty() || rest.front() == '-';
  const bool is_plain = rest.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-") ==
                        std::string_view::npos;  // it is written into log lines as it stands
  return ends_well && is_plain && is_id(text.substr(3, 32)) && is_id(text.substr(36, 16)) &&
         is_hex(text.substr(53, 2));
}

}  // namespace belljar
