#include "drivers/linux/copy_verdicts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/posix.h"

namespace belljar::linux_driver {

namespace {

constexpr size_t kMost = 64;  // of each kind
constexpr size_t kLargest = 1u << 20;
constexpr const char* kNodes = "nodes";
constexpr const char* kFiles = "files";

// As the list is: the key's own place becomes the last one.
template <class Key, class Value>
void put_last(std::vector<std::pair<Key, Value>>& list, const Key& key, const Value& value) {
  std::erase_if(list, [&key](const auto& entry) { return entry.first == key; });
  list.emplace_back(key, value);
  if (list.size() > kMost) list.erase(list.begin());
}

std::optional<CopyVerdict::State> parse_state(std::string_view text) {
  for (const auto state : {CopyVerdict::State::works, CopyVerdict::State::differs}) {
    if (text == name_of(state)) return state;
  }
  return std::nullopt;
}

bool read_verdict(const json::value& value, CopyRecord& record) {
  const json::object* object = value.if_object();
  if (object == nullptr) return false;
  CopyKey key;
  CopyVerdict verdict;
  std::string state;
  const std::pair<const char*, std::string*> members[] = {
      {"node", &key.node},           {"belljar", &key.belljar},
      {"machine", &key.machine},     {"state", &state},
      {"program", &verdict.program}, {"reason", &verdict.reason},
      {"checked", &verdict.checked}};
  for (const auto& [name, target] : members) {
    const json::string* text = find_string(*object, name);
    if (text == nullptr) return false;
    *target = std::string{*text};
  }
  const auto parsed = parse_state(state);
  if (!parsed) return false;
  verdict.state = *parsed;
  record.add(key, verdict);
  return true;
}

// Nothing if any part of it is not as it is written below: then it is not ours.
std::optional<CopyRecord> parse(std::string_view text) {
  boost::system::error_code error;
  const json::value root = json::parse(text, error);
  const json::object* object = error ? nullptr : root.if_object();
  if (object == nullptr) return std::nullopt;
  const json::object* files = find_object(*object, kFiles);
  const json::value* nodes = find(*object, kNodes);
  if (files == nullptr || nodes == nullptr || !nodes->is_array()) return std::nullopt;
  CopyRecord record;
  for (const auto& [stamp, hash] : *files) {
    if (!hash.is_string()) return std::nullopt;
    record.add(std::string{stamp}, std::string{hash.get_string()});
  }
  for (const json::value& value : nodes->get_array()) {
    if (!read_verdict(value, record)) return std::nullopt;
  }
  return record;
}

std::string to_text(const CopyRecord& record) {
  json::object files;
  for (const auto& [stamp, hash] : record.hashes) files[stamp] = hash;
  json::array nodes;
  for (const auto& [key, verdict] : record.verdicts) {
    nodes.push_back(json::object{{"node", key.node},
                                 {"belljar", key.belljar},
                                 {"machine", key.machine},
                                 {"state", name_of(verdict.state)},
                                 {"program", verdict.program},
                                 {"reason", verdict.reason},
                                 {"checked", verdict.checked}});
  }
  json::object root;
  root[kFiles] = std::move(files);
  root[kNodes] = std::move(nodes);
  return json::serialize(root) + "\n";
}

}  // namespace

const char* name_of(CopyVerdict::State state) {
  switch (state) {
    case CopyVerdict::State::unknown: return "unknown";
    case CopyVerdict::State::works: return "works";
    case CopyVerdict::State::differs: return "differs";
  }
  return "";
}

std::string this_machine() {
  utsname name{};
  sys(::uname(&name), "ask for the kernel's name");
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

std::string stamp_of(int file) {
  struct stat status {};
  sys(::fstat(file, &status), "look at a program");
  const auto nanoseconds = [](const timespec& time) {
    return fmt::format("{}.{:09}", time.tv_sec, time.tv_nsec);
  };
  return fmt::format("{} {} {} {} {}", status.st_dev, status.st_ino, status.st_size,
                     nanoseconds(status.st_mtim), nanoseconds(status.st_ctim));
}

std::string CopyRecord::hash_of(const std::string& stamp) const {
  for (const auto& [known, hash] : hashes) {
    if (known == stamp) return hash;
  }
  return "";
}

std::optional<CopyVerdict> CopyRecord::find(const CopyKey& key) const {
  for (const auto& [known, verdict] : verdicts) {
    if (known == key) return verdict;
  }
  return std::nullopt;
}

void CopyRecord::add(const std::string& stamp, const std::string& hash) {
  put_last(hashes, stamp, hash);
}

void CopyRecord::add(const CopyKey& key, const CopyVerdict& verdict) {
  put_last(verdicts, key, verdict);
}

CopyRecord read_copy_record(const std::string& path) {
  // Not a link, and no pipe that nobody writes to: root may look here after an unprivileged
  // belljar.
  const Fd file{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file) return {};
  try {
    return parse(read_to_end(file.get(), path, kLargest)).value_or(CopyRecord{});
  } catch (const Error& e) {
    log::debug("nothing is known of earlier checks: {}", e.what());
    return {};
  }
}

bool write_copy_record(const std::string& path, const CopyRecord& record) {
  try {
    write_file_atomically(path, to_text(record));
    return true;
  } catch (const Error& e) {
    log::debug("the check of copies will be made again: {}", e.what());
    return false;
  }
}

}  // namespace belljar::linux_driver
