#pragma once

// tests/escape must show that its attacks work where one layer of the containment is missing. For
// that a second launcher is built, belljar-launcher-weak, which leaves out the layers named in a
// file beside it. It is never installed; in the launcher that is, this header is all there is.
namespace belljar::launcher {

#ifdef BELLJAR_WEAK
// `layer`: the name of a step, or of one of the few layers that are not a step of their own.
bool is_left_out(const char* layer);
#else
constexpr bool is_left_out(const char*) {
  return false;
}
#endif

}  // namespace belljar::launcher
