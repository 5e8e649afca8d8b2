#include "tools/progress.h"

#include <algorithm>
#include <chrono>

#include "base/utf8.h"

namespace belljar::tools {

namespace {

constexpr size_t kMessageLength = 1000;
constexpr double kBurst = 50;
constexpr double kPerSecond = 20;

}  // namespace

OutputProgress::OutputProgress(mcp::Call& call, const Clock& clock)
    : call_{call}, clock_{clock}, budget_{kBurst}, refilled_{clock.now()} {}

LiveOutput OutputProgress::live() {
  if (!call_.wants_progress()) return nullptr;
  return [this](Stream stream, std::string_view bytes) { write(stream, bytes); };
}

bool OutputProgress::may_send() {
  const Clock::Time now = clock_.now();
  const std::chrono::duration<double> passed = now - refilled_;
  refilled_ = now;
  budget_ = std::min(kBurst, budget_ + passed.count() * kPerSecond);
  if (budget_ < 1) return false;
  budget_ -= 1;
  return true;
}

void OutputProgress::write(Stream stream, std::string_view bytes) {
  std::string& pending = pending_[stream == Stream::out ? 0 : 1];
  // Only the end can be shown, so a long piece is not looked at as a whole.
  const bool shortened = bytes.size() > kMessageLength;
  std::string text = shortened ? "" : std::move(pending);
  text += shortened ? bytes.substr(bytes.size() - kMessageLength) : bytes;
  const size_t complete = utf8_complete(text);
  pending = text.substr(complete);
  text.resize(complete);
  if (text.empty() || !may_send()) return;
  if (!shortened) return call_.progress(to_utf8(text));
  size_t start = 0;
  while (start < 3 && (static_cast<unsigned char>(text[start]) & 0xc0) == 0x80) ++start;
  call_.progress("…" + to_utf8(std::string_view{text}.substr(start)));
}

}  // namespace belljar::tools
