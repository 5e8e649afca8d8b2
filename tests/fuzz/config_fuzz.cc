// The text of a TOML file → the configuration.
#include "app/config.h"
#include "fuzz.h"

namespace belljar::app {
namespace {

void check(std::string_view text) {
  const Fd file = fuzz::memory_file(text);
  const LoadedConfig loaded = load_config({}, fmt::format("/proc/self/fd/{}", file.get()));
  Config copy;
  for (const Setting& setting : settings()) {
    const std::string shown = setting.show(loaded.config);
    fuzz::expect(shown.find('\0') == std::string::npos, "no setting holds a NUL");
    if (shown.empty()) continue;  // has no default
    fuzz::expect(setting.set(copy, shown), "what is shown of a setting can be set");
    fuzz::expect(setting.show(copy) == shown, "and is then shown again");
  }
}

}  // namespace
}  // namespace belljar::app

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::fuzz::may_refuse([=] { belljar::app::check(belljar::fuzz::text_of(data, size)); });
  return 0;
}
