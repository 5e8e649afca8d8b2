#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/fd.h"
#include "network/secrets.h"

namespace belljar::network {

// For which host a program wants TLS, by what it says first, which stays to be read; "" if it is
// something else, or the other side speaks first. Waits until that is known.
Task<std::string> peek_server_name(int inside, int outside);

// Carries a connection between a program and a host that has secrets, which both believe to speak
// with each other by TLS: takes the program's side as that host, opens one to the host, which must
// prove to be it, and sends requests through a RequestFilter. If the host does not prove it, no
// request goes there, and the program is told.
//
// `note` is called at most once, when it is known whether the connection is one to the host: true,
// or false. Bytes of both directions, those of TLS not included, are added to what it returns.
using HostNote = std::function<std::shared_ptr<uint64_t>(bool)>;
Task<> relay_with_secrets(Fd inside, Fd outside, Secret::Host host, const Secrets& secrets,
                          HostNote note);

}  // namespace belljar::network
