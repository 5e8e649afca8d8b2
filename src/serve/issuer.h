#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/task_group.h"
#include "net/http_client.h"
#include "serve/access_token.h"

namespace belljar::serve {

struct IssuerOptions {
  std::chrono::seconds max_age{3600};    // of its keys, before they are fetched again
  std::chrono::seconds least_pause{30};  // between two fetches, whoever asks for what
};

// The keys of an authorization server, found through its metadata (RFC 8414 or OpenID Connect) and
// kept. An unknown key makes it look again, but not more often than once per pause, so that made-up
// tokens cannot make us ask without end.
class Issuer {
 public:
  // `issuer` is its identifier: an https URL, or http on this host. Error{invalid} otherwise.
  // `client` and `clock` must outlive this. Nothing is fetched before the first question.
  Issuer(const asio::any_io_executor& executor, net::HttpClient& client, const Clock& clock,
         std::string issuer, IssuerOptions options = {});

  // The key that the token names. Error{denied} if the issuer has none like that,
  // Error{unavailable} if it cannot be asked.
  Task<JsonWebKey> key_of(UncheckedToken token);

  // To be awaited before destruction.
  Task<> stop() { return tasks_.stop(); }

 private:
  bool may_fetch() const;
  Task<> refresh();
  Task<> fetch(std::shared_ptr<Event> done);
  Task<std::string> find_keys_address();
  Task<std::optional<std::string>> get(std::string address);

  net::HttpClient& client_;
  const Clock& clock_;
  std::string issuer_;
  IssuerOptions options_;
  std::vector<JsonWebKey> keys_;
  std::optional<Clock::Time> fetched_;  // the keys we have
  std::optional<Clock::Time> tried_;    // the last attempt
  std::string trouble_;                 // of that attempt; "" if there was none
  std::shared_ptr<Event> fetching_;     // while one is under way
  TaskGroup tasks_;
};

// True for https, and for http to this very host, where nobody listens in.
bool is_safe_address(const net::Url& url);

}  // namespace belljar::serve
