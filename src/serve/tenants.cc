#include "serve/tenants.h"

namespace belljar::serve {

Tenants::Tenants(const asio::any_io_executor& executor, const Clock& clock, MakeTenant make,
                 size_t most_unnamed)
    : clock_{clock}, make_{std::move(make)}, most_unnamed_{most_unnamed}, retiring_{executor} {}

std::shared_ptr<Tenant> Tenants::of(const Identity& identity) {
  const auto at = places_.find(identity.owner);
  if (at != places_.end()) {
    at->second.used = clock_.now();
    return at->second.tenant;
  }
  if (!identity.is_named && unnamed_ >= most_unnamed_) make_room();
  Place place{make_(identity), clock_.now(), identity.is_named};
  if (draining_) place.tenant->drain();
  if (!identity.is_named) ++unnamed_;
  return places_.emplace(identity.owner, std::move(place)).first->second.tenant;
}

void Tenants::make_room() {
  auto oldest = places_.end();
  for (auto at = places_.begin(); at != places_.end(); ++at) {
    const Place& place = at->second;
    // Whoever holds it just now is about to use it.
    if (place.is_named || place.tenant.use_count() > 1 || !place.tenant->is_idle()) continue;
    if (oldest == places_.end() || place.used < oldest->second.used) oldest = at;
  }
  if (oldest == places_.end()) {
    fail(Code::exhausted,
         "this server is in use by {} others, which is its limit; try again in a minute", unnamed_);
  }
  retiring_.spawn("end an idle owner", retire(std::move(oldest->second.tenant)));
  places_.erase(oldest);
  --unnamed_;
}

Task<> Tenants::retire(std::shared_ptr<Tenant> tenant) {
  co_await tenant->stop();
}

std::vector<std::string> Tenants::owners() const {
  std::vector<std::string> owners;
  owners.reserve(places_.size());
  for (const auto& [owner, place] : places_) owners.push_back(owner);
  return owners;
}

void Tenants::drain() {
  draining_ = true;
  for (const auto& [owner, place] : places_) place.tenant->drain();
}

Task<> Tenants::stop() {
  for (const auto& [owner, place] : places_) co_await place.tenant->stop();
  co_await retiring_.finish();
  places_.clear();
}

}  // namespace belljar::serve
