#include "network/previews.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "base/id.h"
#include "network/preview_connection.h"

namespace belljar::network {

namespace {

constexpr size_t kTokenBytes = 16;

bool are_equal(const std::string& one, const std::string& other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

net::HttpAnswer page(int status, std::string text) {
  net::HttpAnswer answer{.status = status, .type = "text/plain; charset=utf-8"};
  answer.body = std::move(text);
  answer.headers.emplace_back("x-content-type-options", "nosniff");
  return answer;
}

}  // namespace

Previews::Previews(Sandboxes& sandboxes, std::string origin)
    : sandboxes_{sandboxes}, origin_{std::move(origin)} {}

std::string Previews::link(const std::string& owner, const std::string& id, uint16_t port) {
  if (links_.size() >= tidy_at_) forget_ended();
  auto [at, is_new] = links_.try_emplace(Key{id, port});
  if (is_new) at->second = Link{owner, random_hex(kTokenBytes)};
  const PreviewPath path{id, port, ""};
  return fmt::format("{}{}?{}={}", origin_, path.prefix(), kPreviewParameter, at->second.token);
}

void Previews::forget_ended() {
  std::erase_if(links_, [this](const auto& entry) {
    const auto& [key, link] = entry;
    const auto live = sandboxes_.list(link.owner);
    return std::ranges::none_of(live, [&key](const SandboxInfo& i) { return i.id == key.first; });
  });
  tidy_at_ = 64 + 2 * links_.size();
}

const Previews::Link* Previews::find(const PreviewPath& path, const std::string& token) const {
  const auto at = links_.find(Key{path.id, path.port});
  if (at == links_.end() || !are_equal(at->second.token, token)) return nullptr;
  return &at->second;
}

Task<> Previews::handle(net::HttpExchange& exchange) {
  const net::HttpServerRequest& request = exchange.request();
  auto path = read_preview_path(request.target);
  if (!path) {
    co_return co_await exchange.answer(
        page(404, "Previews of sandboxes are at /preview/ID/PORT/, by the link of a result.\n"));
  }
  auto brought = take_token(request.target);
  if (brought) co_return co_await welcome(exchange, *path, std::move(*brought));
  const Link* link = find(*path, token_of(request));
  if (link == nullptr) {
    // The same for what never was, what is gone and what is somebody else's.
    co_return co_await exchange.answer(
        page(401,
             "There is no such preview, or this is not its whole link: open the one that the "
             "result of the run has.\n"));
  }
  // Pages elsewhere must not act through this browser, not even those of the same host.
  const std::string_view origin = request.header("origin");
  if (!origin.empty() && origin != origin_) {
    co_return co_await exchange.answer(page(403, "Pages of other origins may not use previews.\n"));
  }
  if (!path->rest.starts_with('/')) {
    co_return co_await exchange.answer(redirection(path->prefix() + path->rest));
  }
  std::string owner = link->owner;
  co_await show(exchange, std::move(*path), std::move(owner));
}

// Exchanges the token in the address, which people copy and pages see, for a cookie.
Task<> Previews::welcome(net::HttpExchange& exchange, const PreviewPath& path,
                         TokenInTarget token) {
  if (find(path, token.token) == nullptr) {
    co_return co_await exchange.answer(
        page(401, "There is no such preview, or it has ended with its sandbox.\n"));
  }
  net::HttpAnswer answer = redirection(std::move(token.target));
  answer.headers.emplace_back(
      "set-cookie",
      fmt::format("{}={}; Path={}; HttpOnly; SameSite=Lax{}", kPreviewCookie, token.token,
                  path.prefix(), origin_.starts_with("https:") ? "; Secure" : ""));
  co_await exchange.answer(std::move(answer));
}

net::HttpAnswer Previews::redirection(std::string target) const {
  net::HttpAnswer answer{.status = 303, .type = ""};
  answer.headers.emplace_back("location", std::move(target));
  answer.headers.emplace_back("referrer-policy", "no-referrer");
  return answer;
}

Task<> Previews::show(net::HttpExchange& exchange, PreviewPath path, std::string owner) {
  const uint16_t port = path.port;
  std::optional<Lease> lease;
  Fd inside;
  std::string why;
  int status = 502;
  try {
    lease.emplace(sandboxes_.use(path.id, owner));
    inside = co_await lease->sandbox().connect(port);
  } catch (const Error& e) {
    if (e.code() == Code::not_found) {
      status = 404;
      why = "The sandbox has ended, and its previews with it.\n";
    } else {
      why = fmt::format("Nothing in the sandbox accepts connections on port {}.\n", port);
    }
  }
  if (!why.empty()) co_return co_await exchange.answer(page(status, std::move(why)));
  // When the sandbox ends, so does the connection to it.
  co_await carry_preview(exchange, std::move(inside), std::move(path), origin_);
}

}  // namespace belljar::network
