#pragma once

namespace belljar::app {

inline constexpr const char* kVersion = BELLJAR_VERSION;

}  // namespace belljar::app
