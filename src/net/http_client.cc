#include "net/http_client.h"

#include <algorithm>
#include <array>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>

#include "base/error.h"
#include "net/connection.h"
#include "net/http_response_parser.h"

namespace belljar::net {
namespace {

using boost::system::system_error;

constexpr size_t kPiece = 64u << 10;
constexpr size_t kErrorBody = 4u << 10;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool is_clean(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

void drop_secrets(HttpRequest& request) {
  std::erase_if(request.headers, [](const auto& header) {
    std::string name = header.first;
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name == "authorization" || name == "cookie";
  });
}

std::string request_head(const HttpRequest& request, const std::optional<Url>& proxy,
                         const std::string& user_agent) {
  const bool through_proxy = proxy && !request.url.is_tls();
  std::string head = fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n",
                                 through_proxy ? to_string(request.url) : request.url.target,
                                 authority(request.url));
  const auto add = [&head](std::string_view name, std::string_view value) {
    // A line break in a value would be a header of its own.
    if (!is_clean(name) || !is_clean(value)) fail(Code::invalid, "bad value for header {}", name);
    head += fmt::format("{}: {}\r\n", name, value);
  };
  add("User-Agent", user_agent);
  add("Accept-Encoding", "identity");
  add("Connection", request.connections != nullptr ? "keep-alive" : "close");
  if (const std::string value = basic_authorization(request.url); !value.empty())
    add("Authorization", value);
  if (through_proxy)
    if (const std::string value = basic_authorization(*proxy); !value.empty())
      add("Proxy-Authorization", value);
  for (const auto& [name, value] : request.headers) add(name, value);
  return head + "\r\n";
}

// 0 at the end of the answer, or when nothing more is to come from a careless peer.
Task<size_t> read_piece(Stream& stream, std::span<char> buffer, std::chrono::milliseconds idle,
                        const HttpResponseParser& parser) {
  try {
    const auto count = co_await with_timeout(idle, stream.read_some(buffer));
    if (!count) fail(Code::unavailable, "the server sent nothing for {} ms", idle.count());
    co_return *count;
  } catch (const system_error& fault) {
    if (fault.code() == asio::error::operation_aborted) throw;
    // Many servers close without TLS's farewell. That is harmless unless the end of the connection
    // is the only sign that the body is complete: then anybody could have cut it.
    if (fault.code() == asio::ssl::error::stream_truncated && !parser.ends_with_connection())
      co_return 0;
    fail(Code::unavailable, "the connection broke: {}", fault.code().message());
  }
}

// What came of one request on one connection.
struct Exchange {
  HttpResponse response;
  std::string location;     // where the answer redirects to
  bool answered = false;    // at least one byte has arrived
  bool stays_open = false;  // another request may follow
};

Task<> send_head(Stream& stream, const std::string& head, std::chrono::milliseconds idle) {
  try {
    if (!co_await with_timeout(idle, stream.write(head)))
      fail(Code::unavailable, "the server does not take the request");
  } catch (const system_error& fault) {
    if (fault.code() == asio::error::operation_aborted) throw;
    fail(Code::unavailable, "the connection broke: {}", fault.code().message());
  }
}

Task<> perform(Stream& stream, const HttpRequest& request, const std::string& head,
               const BodySink& sink, Exchange& exchange) {
  co_await send_head(stream, head, request.limits.idle);
  HttpResponse& response = exchange.response;
  HttpResponseParser parser{HttpResponseParser::Body::expected, request.limits.body};
  std::vector<char> buffer(kPiece);
  while (!parser.is_done()) {
    const size_t count = co_await read_piece(stream, buffer, request.limits.idle, parser);
    exchange.answered |= count > 0;
    if (count > 0) parser.feed({buffer.data(), count});
    if (count == 0) parser.feed_end();
    if (!parser.has_head()) continue;
    response.status = parser.head().status;
    const std::string piece = parser.take_body();
    if (is_redirect(response.status)) {
      exchange.location = parser.head().header("location");
      if (!exchange.location.empty()) break;
    }
    if (response.status / 100 == 2 && !piece.empty()) sink(piece, parser.length());
    if (response.status / 100 != 2)
      response.body.append(piece, 0, kErrorBody - std::min(kErrorBody, response.body.size()));
  }
  response.url = request.url;
  exchange.stays_open = parser.leaves_connection_open();
}

}  // namespace

HttpClient::HttpClient(HttpSettings settings) : settings_{std::move(settings)} {}

HttpClient::~HttpClient() = default;

Task<HttpResponse> HttpClient::get(HttpRequest request) {
  std::string body;
  BodySink collect = [&body](std::string_view piece, uint64_t) { body.append(piece); };
  HttpResponse response = co_await get(std::move(request), std::move(collect));
  if (response.status / 100 == 2) response.body = std::move(body);
  co_return response;
}

Task<HttpResponse> HttpClient::get(HttpRequest request, BodySink sink) {
  const auto limit = request.limits.total;
  auto response = co_await with_timeout(limit, follow(request, sink));
  if (!response)
    fail(Code::unavailable, "GET {}: not finished after {} s", to_string(request.url),
         limit.count());
  co_return std::move(*response);
}

Task<HttpResponse> HttpClient::follow(HttpRequest& request, const BodySink& sink) {
  for (int redirects = 0;; ++redirects) {
    std::string location;
    HttpResponse response;
    try {
      response = co_await get_once(request, sink, location);
    } catch (const Error& error) {
      fail(error.code(), "GET {}: {}", to_string(request.url), error.what());
    }
    if (location.empty()) co_return response;
    if (redirects == request.limits.redirects)
      fail(Code::unavailable, "GET {}: more than {} redirects", to_string(request.url), redirects);
    const auto next = resolve_url(request.url, location);
    if (!next)
      fail(Code::unavailable, "GET {}: redirected to a bad address", to_string(request.url));
    if (request.url.is_tls() && !next->is_tls())
      fail(Code::unavailable, "GET {}: redirected to an address without TLS",
           to_string(request.url));
    if (!next->same_origin(request.url)) drop_secrets(request);
    request.url = *next;
  }
}

// Null if neither is reached by TLS: the system's certificates take some 50 ms to read.
Task<asio::ssl::context*> HttpClient::tls_for(const Url& url, const std::optional<Url>& proxy) {
  if (!url.is_tls() && !(proxy && proxy->is_tls())) co_return nullptr;
  if (!tls_) {
    auto make = [this] { return make_tls_client(settings_.tls); };
    auto made = co_await run_blocking(make);
    if (!tls_) tls_ = std::move(made);  // otherwise another request was quicker, and uses it
  }
  co_return tls_.get();
}

Task<std::unique_ptr<Stream>> HttpClient::connect(const HttpRequest& request) {
  const auto proxy = proxy_for(settings_.proxy, request.url);
  asio::ssl::context* const tls = co_await tls_for(request.url, proxy);
  auto connected =
      co_await with_timeout(request.limits.connect, open_connection(request.url, proxy, tls));
  if (!connected)
    fail(Code::unavailable, "no connection to {} after {} s (behind a proxy, set HTTPS_PROXY)",
         proxy ? proxy->host : request.url.host, request.limits.connect.count());
  co_return std::move(*connected);
}

Task<HttpResponse> HttpClient::get_once(const HttpRequest& request, const BodySink& sink,
                                        std::string& location) {
  const std::string head =
      request_head(request, proxy_for(settings_.proxy, request.url), settings_.user_agent);
  ConnectionPool* const pool = request.connections;
  while (true) {
    auto stream = pool != nullptr ? pool->take(request.url) : nullptr;
    const bool is_fresh = !stream;
    if (is_fresh) stream = co_await connect(request);
    Exchange exchange;
    try {
      co_await perform(*stream, request, head, sink, exchange);
    } catch (const Error&) {
      // The server closed it while it waited. Nothing was lost but the attempt.
      if (!is_fresh && !exchange.answered) continue;
      throw;
    }
    if (exchange.stays_open && pool != nullptr) pool->put(request.url, std::move(stream));
    location = std::move(exchange.location);
    co_return std::move(exchange.response);
  }
}

}  // namespace belljar::net
