#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_request_parser.h"
#include "network/secrets.h"

namespace belljar::network {

// Stands between a program's requests and a host that has secrets: puts these in, takes the
// program's own values of their headers out, and lets through only what was understood, written
// anew. Without any input or output of its own. Answers are none of its business.
class RequestFilter {
 public:
  // The secrets are those of the host, and must outlive it.
  RequestFilter(Secret::Host host, std::vector<const Secret*> secrets);

  // What the host gets for these bytes of the program; after a refusal, nothing more.
  std::string feed(std::string_view bytes);

  struct Refusal {
    int status;
    std::string why;  // for the program, without secrets
  };
  const std::optional<Refusal>& refusal() const { return refusal_; }

  // True once a request has arrived whole enough to be answered.
  bool has_request() const { return has_request_; }

  // True after a first request that asks for a WebSocket. Nothing more is let through until
  // answered() says what the host thinks of it; if it agrees, whatever follows is no HTTP any more.
  bool awaits_answer() const { return mode_ == Mode::asked; }
  std::string answered(bool agreed);

 private:
  enum class Mode { http, asked, websocket };
  std::string go_on();
  std::string body();
  std::string write_head(const net::RequestHead& head);
  void refuse(int status, std::string why);
  void check(const net::RequestHead& head);
  std::optional<std::string> value_of(const std::string& header, const std::string& value) const;

  Secret::Host host_;
  std::vector<const Secret*> secrets_;
  net::HttpRequestParser parser_;
  Mode mode_ = Mode::http;
  bool has_request_ = false;
  bool is_first_ = true;
  bool head_sent_ = false;  // of the request that is being read
  std::optional<Refusal> refusal_;
};

}  // namespace belljar::network
