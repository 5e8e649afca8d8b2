#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace belljar::linux_driver {

// Whether copies of a Node.js do on this machine what executed ones do.
struct CopyVerdict {
  enum class State { unknown, works, differs };
  State state = State::unknown;
  std::string program;  // that differs
  std::string reason;   // how it differs, or why it is unknown
  std::string checked;  // "2026-11-16T03:04:05Z"
};

// "unknown", "works" or "differs".
const char* name_of(CopyVerdict::State state);

// What a verdict depends on. Files are known by their SHA-256.
struct CopyKey {
  std::string node;
  std::string belljar;  // the launcher, the zygote's library, and the programs it was tried with
  std::string machine;  // the kernel's release, and the processor's architecture
  bool operator==(const CopyKey&) const = default;
};

// "Linux 6.18.44 x86_64"
std::string this_machine();

// Which file it is, and in which state: another if anybody has written to it.
std::string stamp_of(int file);

// What is remembered of checks, in a file that all belljars of a user share.
struct CopyRecord {
  std::vector<std::pair<std::string, std::string>> hashes;  // by stamp; the newest last
  std::vector<std::pair<CopyKey, CopyVerdict>> verdicts;    // the newest last

  // "" if it is not known.
  std::string hash_of(const std::string& stamp) const;
  std::optional<CopyVerdict> find(const CopyKey& key) const;

  // They replace what was known before; the oldest are forgotten when there are many.
  void add(const std::string& stamp, const std::string& hash);
  void add(const CopyKey& key, const CopyVerdict& verdict);
};

// Empty if the file does not exist, cannot be read or is damaged.
CopyRecord read_copy_record(const std::string& path);

// False if it cannot be written. Blocks.
bool write_copy_record(const std::string& path, const CopyRecord& record);

}  // namespace belljar::linux_driver
