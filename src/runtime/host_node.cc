#include "runtime/host_node.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/posix.h"
#include "runtime/elf.h"

namespace belljar::runtime {
namespace {

namespace fs = std::filesystem;
using packages::Version;

// process.release.headersUrl ends with "node-v20.20.2-headers.tar.gz".
constexpr std::string_view kBefore = "/node-v";
constexpr std::string_view kAfter = "-headers.tar.gz";
constexpr size_t kPattern = 64;

std::optional<Version> version_in(std::string_view bytes) {
  for (size_t at = bytes.find(kAfter); at != std::string_view::npos;
       at = bytes.find(kAfter, at + 1)) {
    const size_t from = at > kPattern ? at - kPattern : 0;
    const size_t start = bytes.substr(from, at - from).rfind(kBefore);
    if (start == std::string_view::npos) continue;
    const std::string_view text =
        bytes.substr(from + start + kBefore.size(), at - from - start - kBefore.size());
    if (auto version = packages::parse_version(text)) return version;
  }
  return std::nullopt;
}

std::optional<Version> version_in_binary(const std::string& path) {
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return std::nullopt;
  std::vector<char> buffer(1u << 20);
  size_t kept = 0;  // the end of the last piece, in case the text lies across the border
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data() + kept, buffer.size() - kept);
    if (count <= 0) return std::nullopt;
    const size_t size = kept + static_cast<size_t>(count);
    if (auto version = version_in({buffer.data(), size})) return version;
    kept = std::min(size, 2 * kPattern);
    std::copy(buffer.begin() + static_cast<ptrdiff_t>(size - kept),
              buffer.begin() + static_cast<ptrdiff_t>(size), buffer.begin());
  }
}

std::optional<uint64_t> defined(std::string_view source, std::string_view name) {
  const std::string key = fmt::format("#define NODE_{}_VERSION ", name);
  const size_t at = source.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  uint64_t value = 0;
  const char* start = source.data() + at + key.size();
  const auto result = std::from_chars(start, source.data() + source.size(), value);
  return result.ec == std::errc{} ? std::optional{value} : std::nullopt;
}

std::optional<Version> version_in_headers(const fs::path& prefix) {
  try {
    const std::string source = read_file((prefix / "include/node/node_version.h").string());
    const auto major = defined(source, "MAJOR");
    const auto minor = defined(source, "MINOR");
    const auto patch = defined(source, "PATCH");
    if (!major || !minor || !patch) return std::nullopt;
    return Version{*major, *minor, *patch, {}};
  } catch (const Error&) {
    return std::nullopt;  // no headers are installed
  }
}

}  // namespace

std::optional<HostNode> find_host_node(const packages::Surroundings& host) {
  for (const std::string_view name : {"node", "nodejs"}) {
    for (const std::string& program : packages::find_programs(host, name)) {
      if (why_not_a_program(program)) continue;
      const fs::path prefix = fs::path{program}.parent_path().parent_path();
      auto version = version_in_binary(program);
      if (!version) version = version_in_headers(prefix);
      if (!version) continue;
      const bool in_usr = prefix == "/usr" || prefix == "/";
      return HostNode{*version, program, in_usr ? "" : prefix.string()};
    }
  }
  return std::nullopt;
}

}  // namespace belljar::runtime
