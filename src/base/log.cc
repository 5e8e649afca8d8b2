#include "base/log.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <chrono>

#include "base/request_context.h"
#include "base/utf8.h"

namespace belljar::log {

namespace {

// Set once at start, before the first thread; read-only afterwards.
Level threshold = Level::warning;
Format style = Format::text;

constexpr std::string_view name(Level level) {
  switch (level) {
    case Level::debug: return "debug";
    case Level::info: return "info";
    case Level::warning: return "warning";
    default: return "error";
  }
}

// Which request the line is about, if it is about one. Both values are plain hexadecimal.
std::string request_fields() {
  const auto& request = current_request();
  if (!request) return "";
  std::string fields = fmt::format(R"(,"request":"{}")", request->id);
  if (!request->traceparent.empty())
    fields += fmt::format(R"(,"traceparent":"{}")", request->traceparent);
  return fields;
}

std::string request_words() {
  const auto& request = current_request();
  if (!request) return "";
  if (request->traceparent.empty()) return fmt::format("[{}] ", request->id);
  return fmt::format("[{} {}] ", request->id, request->traceparent);
}

}  // namespace

void configure(Level level, Format format) {
  threshold = level;
  style = format;
}

bool enabled(Level level) {
  return level >= threshold;
}

void write(Level level, std::string_view message) {
  const auto now =
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto millis = now.time_since_epoch().count() % 1000;
  const std::string time = fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(now), millis);
  std::string line;
  if (style == Format::json) {
    const boost::json::value text(boost::json::string(to_utf8(message)));
    line = fmt::format(R"({{"time":"{}","level":"{}"{},"message":{}}})", time, name(level),
                       request_fields(), boost::json::serialize(text));
  } else {
    line = fmt::format("{} {} {}{}", time, name(level), request_words(), to_utf8(message));
    for (char& c : line) {
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';  // a line stays a line, whatever it quotes
    }
  }
  line += '\n';
  // Nobody can be told when stderr is gone.
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace belljar::log
