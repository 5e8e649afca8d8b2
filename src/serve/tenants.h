#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/task_group.h"
#include "net/http_exchange.h"
#include "serve/gatekeeper.h"

namespace belljar::serve {

// All that one owner has: tools, resources, sessions. Whatever two owners do, they meet nowhere
// here.
class Tenant {
 public:
  virtual ~Tenant() = default;

  // Answers one request to the MCP endpoint.
  virtual Task<> handle(net::HttpExchange& exchange) = 0;

  // Nothing would be lost if it were gone: no requests, sessions or sandboxes.
  virtual bool is_idle() const = 0;

  // See mcp::HttpEndpoint.
  virtual void drain() = 0;
  virtual Task<> stop() = 0;
};

using MakeTenant = std::function<std::unique_ptr<Tenant>(const Identity&)>;

// The tenants there are. Those that the operator named stay; those whom an issuer vouches for are
// made when they first come, and the one idle for longest makes room for another.
class Tenants {
 public:
  // `clock` must outlive this.
  Tenants(const asio::any_io_executor& executor, const Clock& clock, MakeTenant make,
          size_t most_unnamed);

  // Error{exhausted} if all places are taken by owners who are busy.
  std::shared_ptr<Tenant> of(const Identity& identity);

  size_t size() const { return places_.size(); }
  std::vector<std::string> owners() const;  // their keys

  void drain();

  // Ends all of them. To be awaited before destruction; of() must not be called afterwards.
  Task<> stop();

 private:
  struct Place {
    std::shared_ptr<Tenant> tenant;
    Clock::Time used;
    bool is_named = false;
  };
  void make_room();
  Task<> retire(std::shared_ptr<Tenant> tenant);

  const Clock& clock_;
  MakeTenant make_;
  size_t most_unnamed_;
  size_t unnamed_ = 0;
  std::map<std::string, Place> places_;
  bool draining_ = false;
  TaskGroup retiring_;
};

}  // namespace belljar::serve
