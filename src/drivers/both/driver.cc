#include "drivers/both/driver.h"

#include "base/error.h"

namespace belljar {

namespace {

Task<Capabilities> look_at(Driver& engine) {
  Capabilities found;
  try {
    found = co_await engine.probe();
  } catch (const Error& e) {
    found.boundary = "no engine";
    found.features = {Feature{.name = "connection",
                              .group = "",
                              .state = Feature::State::missing,
                              .need = Feature::Need::required,
                              .detail = e.what(),
                              .fix = "Start the engine, or set driver to native."}};
  }
  co_return found;
}

}  // namespace

BothDrivers::BothDrivers(std::unique_ptr<Driver> host, std::unique_ptr<Driver> engine)
    : host_{std::move(host)}, engine_{std::move(engine)} {}

Task<Capabilities> BothDrivers::probe() {
  Capabilities all = co_await host_->probe();
  Capabilities engine = co_await look_at(*engine_);
  all.driver = "both";
  all.boundary += ", or " + engine.boundary;
  for (Feature& feature : engine.features) {
    feature.name = kEnginePrefix + feature.name;
    if (!feature.group.empty()) feature.group = kEnginePrefix + feature.group;
    all.features.push_back(std::move(feature));
  }
  co_return all;
}

Task<std::unique_ptr<Sandbox>> BothDrivers::create(SandboxSpec spec) {
  Driver& driver = spec.image.is_of_engine() ? *engine_ : *host_;
  return driver.create(std::move(spec));
}

Task<> BothDrivers::recover() {
  co_await engine_->recover();
  co_await host_->recover();
}

Task<> BothDrivers::shut_down() {
  co_await engine_->shut_down();
  co_await host_->shut_down();
}

}  // namespace belljar
