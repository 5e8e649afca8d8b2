#include "packages/kept_documents.h"

#include <sys/stat.h>

#include <filesystem>

#include "base/log.h"
#include "base/posix.h"
#include "base/sha256.h"

namespace belljar::packages {

namespace fs = std::filesystem;

namespace {

constexpr size_t kLargest = 64u << 20;

Clock::WallTime time_of(const struct stat& info) {
  const auto since =
      std::chrono::seconds{info.st_mtim.tv_sec} + std::chrono::nanoseconds{info.st_mtim.tv_nsec};
  return Clock::WallTime{std::chrono::duration_cast<Clock::WallTime::duration>(since)};
}

std::string hash_of(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.finish();
}

// What is kept begins with its hash, as nobody waits until it is on the disk.
std::optional<std::string> without_hash(std::string text) {
  const size_t end = text.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::string hash = text.substr(0, end);
  text.erase(0, end + 1);
  if (hash_of(text) != hash) return std::nullopt;
  return text;
}

}  // namespace

KeptDocuments::KeptDocuments(Registry& registry, const Clock& clock, std::string directory,
                             Rules rules)
    : registry_{registry}, clock_{clock}, directory_{std::move(directory)}, rules_{rules} {}

// By registry, so that what one says is never taken for what another would say.
Task<std::string> KeptDocuments::path_of(const std::string& package, DocumentDetail detail) {
  Sha256 hash;
  hash.add(co_await registry_.address_of(package));
  hash.add(detail == DocumentDetail::full ? "\nfull\n" : "\n");
  hash.add(package);
  co_return directory_ + "/" + hash.finish();
}

// Nothing if there is none that is young enough.
std::optional<std::string> KeptDocuments::read_kept(const std::string& path) const {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  const auto age = clock_.wall() - time_of(info);
  // One from the future is as old as nobody knows.
  if (!rules_.offline && (age > rules_.max_age || age < -rules_.max_age)) return std::nullopt;
  try {
    return without_hash(read_file(path, kLargest));
  } catch (const Error& e) {
    log::debug("a kept document cannot be read: {}", e.what());
    return std::nullopt;
  }
}

Task<std::string> KeptDocuments::get(std::string package, DocumentDetail detail,
                                     net::ConnectionPool* connections) {
  const std::string path = co_await path_of(package, detail);
  auto read = [this, &path] { return read_kept(path); };
  std::optional<std::string> kept = co_await run_blocking(std::move(read));
  if (kept) co_return std::move(*kept);
  if (rules_.offline)
    fail(Code::unavailable,
         "{} is not among the packages that are kept here, and belljar is offline: it asks no "
         "registry. Start it once without `offline` and use {}, or `belljar packages add {}`",
         package, package, package);
  std::string body = co_await registry_.raw_document(package, detail, connections);
  auto keep = [this, &path, &body] {
    try {
      make_directories(directory_, 0700);
      replace_file(path, hash_of(body) + "\n" + body, 0600);
    } catch (const Error& e) {
      log::debug("a document is not kept: {}", e.what());
    }
  };
  co_await run_blocking(std::move(keep));
  co_return body;
}

void KeptDocuments::prune(const std::string& directory, Clock::WallTime now) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator{directory, error}) {
    struct stat info;
    if (::lstat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (now - time_of(info) > kForget) fs::remove(entry.path(), error);
  }
}

}  // namespace belljar::packages
