#pragma once

#include "base/fd.h"
#include "net/http_exchange.h"
#include "network/preview_rewriting.h"

namespace belljar::network {

// Carries one request to a server in a sandbox and its answer back, or from then on what passes
// on a WebSocket both ways. `inside` is connected to the server. Error{unavailable} if what it
// answers is no HTTP, and nothing of it was passed on.
Task<> carry_preview(net::HttpExchange& exchange, Fd inside, PreviewPath path, std::string origin);

}  // namespace belljar::network
