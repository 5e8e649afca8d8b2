#include "packages/testing.h"

#include <archive.h>
#include <archive_entry.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/bytes.h"
#include "base/error.h"
#include "base/posix.h"

namespace belljar::packages {
namespace {

la_ssize_t append(archive*, void* to, const void* data, size_t size) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

}  // namespace

TestDirectory::TestDirectory() {
  std::string pattern = std::filesystem::temp_directory_path().string() + "/belljar-test-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) fail_errno(errno, "mkdtemp");
  path_ = pattern;
}

TestDirectory::~TestDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestDirectory::write(const std::string& name, const std::string& content,
                                 unsigned mode) const {
  const std::string path = path_ + "/" + name;
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
  write_file_atomically(path, content, mode);
  return path;
}

std::string make_tarball(const std::vector<TestEntry>& entries) {
  std::string bytes;
  archive* writer = archive_write_new();
  archive_write_add_filter_gzip(writer);
  archive_write_set_format_pax_restricted(writer);
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open(writer, &bytes, nullptr, &append, nullptr);
  for (const TestEntry& from : entries) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, from.path.c_str());
    archive_entry_set_filetype(entry, from.type);
    archive_entry_set_perm(entry, from.mode);
    archive_entry_set_size(entry, static_cast<la_int64_t>(from.content.size()));
    if (!from.link.empty()) archive_entry_set_symlink(entry, from.link.c_str());
    if (!from.hardlink.empty()) archive_entry_set_hardlink(entry, from.hardlink.c_str());
    if (archive_write_header(writer, entry) < ARCHIVE_WARN)
      fail(Code::internal, "cannot make the test's tarball: {}", archive_error_string(writer));
    archive_write_data(writer, from.content.data(), from.content.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  return bytes;
}

std::string sha512_integrity(const std::string& bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha512(), nullptr);
  return "sha512-" + base64({reinterpret_cast<const char*>(digest), size});
}

}  // namespace belljar::packages
