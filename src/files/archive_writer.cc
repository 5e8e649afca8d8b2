#include "files/archive_writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <ctime>
#include <memory>

#include "base/error.h"
#include "files/directory.h"

namespace belljar::files {

namespace {

using Archive = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Header = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

void check(archive* target, la_ssize_t result) {
  if (result >= ARCHIVE_OK) return;
  const char* why = archive_error_string(target);
  fail(Code::internal, "make an archive: {}", why != nullptr ? why : "no reason given");
}

void add(archive* target, const ArchiveFile& file, time_t now) {
  const Header header{archive_entry_new(), &archive_entry_free};
  if (!header) fail(Code::exhausted, "no memory to make an archive");
  const std::string path = check_relative_path("path", file.path);
  archive_entry_set_pathname(header.get(), path.c_str());
  archive_entry_set_filetype(header.get(), AE_IFREG);
  archive_entry_set_perm(header.get(), file.executable ? 0755 : 0644);
  archive_entry_set_size(header.get(), static_cast<la_int64_t>(file.content.size()));
  archive_entry_set_mtime(header.get(), now, 0);
  check(target, archive_write_header(target, header.get()));
  check(target, archive_write_data(target, file.content.data(), file.content.size()));
}

}  // namespace

Fd make_archive(const std::vector<ArchiveFile>& files) {
  Fd memory{sys(::memfd_create("archive", MFD_CLOEXEC | MFD_ALLOW_SEALING), "make an archive")};
  const Archive target{archive_write_new(), &archive_write_free};
  if (!target) fail(Code::exhausted, "no memory to make an archive");
  // GNU's form takes names as bytes; pax wants UTF-8 and asks the locale what a name means.
  check(target.get(), archive_write_set_format_gnutar(target.get()));
  check(target.get(), archive_write_open_fd(target.get(), memory.get()));
  const time_t now = ::time(nullptr);
  for (const ArchiveFile& file : files) add(target.get(), file, now);
  check(target.get(), archive_write_close(target.get()));
  sys(::lseek(memory.get(), 0, SEEK_SET), "rewind an archive");
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  sys(::fcntl(memory.get(), F_ADD_SEALS, kSeals), "seal an archive");
  return memory;
}

}  // namespace belljar::files
