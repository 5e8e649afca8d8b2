// Finding and preparing the hierarchies.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "drivers/linux/launcher/cgroup.h"
#include "drivers/linux/launcher/cgroup_tree.h"
#include "drivers/linux/launcher/files.h"

namespace belljar::launcher {

namespace {

bool remove_slot_of(const std::string& mount_point, unsigned slot) {
  const Fd root{::open(mount_point.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!root) return errno == ENOENT;
  const bool removed = remove_tree(root.get(), "belljar/" + std::to_string(slot));
  ::unlinkat(root.get(), "belljar", AT_REMOVEDIR);  // only if no other launcher uses it
  return removed;
}

bool has_word(const std::string& text, const char* word, char separator) {
  const std::string padded = separator + text + separator;
  return padded.find(separator + std::string{word} + separator) != std::string::npos;
}

}  // namespace

unsigned Cgroups::controllers_in(const std::string& group) {
  std::string list = read_file_at(AT_FDCWD, (group + "/cgroup.controllers").c_str());
  if (!list.empty()) list.pop_back();
  unsigned found = 0;
  for (const auto& [word, bit] : {std::pair{"memory", memory}, {"pids", pids}, {"cpu", cpu}}) {
    if (has_word(list, word, ' ')) found |= bit;
  }
  return found;
}

void Cgroups::find_hierarchies() {
  // "36 35 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory"
  const std::string mounts = read_file_at(AT_FDCWD, "/proc/self/mountinfo");
  for (size_t start = 0; start < mounts.size();) {
    const size_t end = mounts.find('\n', start);
    const std::string line = mounts.substr(start, end - start);
    start = end == std::string::npos ? mounts.size() : end + 1;
    char point[4096];
    char type[64];
    char options[1024];
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    if (std::sscanf(line.c_str(), "%*s %*s %*s %*s %4095s", point) != 1) continue;
    if (std::sscanf(line.c_str() + dash, " - %63s %*s %1023s", type, options) != 2) continue;
    Hierarchy hierarchy;
    hierarchy.mount_point = point;
    if (std::strcmp(type, "cgroup2") == 0) {
      hierarchy.v2 = true;
      hierarchy.controllers = controllers_in(hierarchy.mount_point);
      hierarchies_.push_back(std::move(hierarchy));
    } else if (std::strcmp(type, "cgroup") == 0) {
      for (const auto& [word, bit] : {std::pair{"memory", memory},
                                      {"pids", pids},
                                      {"cpu", cpu},
                                      {"devices", devices},
                                      {"freezer", freezer}}) {
        // The same hierarchy may be mounted twice; the first will do.
        if (has_word(options, word, ',') && with(bit) == nullptr) hierarchy.controllers |= bit;
      }
      if (hierarchy.controllers != 0) hierarchies_.push_back(std::move(hierarchy));
    }
  }
}

unsigned Cgroups::find_controllers() const {
  unsigned found = 0;
  for (const Hierarchy& hierarchy : hierarchies_) found |= hierarchy.controllers;
  return found;
}

int Cgroups::make_slot(Hierarchy& hierarchy, unsigned slot) const {
  const Fd root{::open(hierarchy.mount_point.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!root) return errno;
  const std::string path = "belljar/" + std::to_string(slot);
  // A launcher that ends removes "belljar" if it is empty, perhaps before ours is in it.
  int error = ENOENT;
  for (int tries = 0; error == ENOENT && tries < 10; ++tries) {
    error = create_directories_at(root.get(), path.c_str(), 0755);
  }
  if (error != 0) return error;
  if (hierarchy.v2 && hierarchy.controllers != 0) {
    std::string enable;
    for (const auto& [word, bit] :
         {std::pair{"+memory ", memory}, {"+pids ", pids}, {"+cpu ", cpu}}) {
      if ((hierarchy.controllers & bit) != 0) enable += word;
    }
    for (const std::string& level : {std::string{"."}, std::string{"belljar"}, path}) {
      const std::string file = level + "/cgroup.subtree_control";
      error = write_file_at(root.get(), file.c_str(), enable);
      if (error != 0) return error;
    }
  }
  hierarchy.slot.reset(::openat(root.get(), path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!hierarchy.slot) return errno;
  return hierarchy.controllers == devices ? allow_only_safe_devices(hierarchy.slot.get()) : 0;
}

int Cgroups::allow_only_safe_devices(int slot) {
  if (const int error = write_file_at(slot, "devices.deny", "a")) return error;
  // null, zero, full, random, urandom
  for (const char* device : {"c 1:3 rw", "c 1:5 rw", "c 1:7 rw", "c 1:8 rw", "c 1:9 rw"}) {
    if (const int error = write_file_at(slot, "devices.allow", device)) return error;
  }
  return 0;
}

int Cgroups::set_up(const Place& place, unsigned slot, std::string& missing) {
  hierarchies_.clear();
  if (!place.is_root) {
    find_delegated(place);
    if (!remove_slot(slot)) return EBUSY;
    // Too little for anything but killing, or for that, is no reason to refuse.
    if (make_slots(slot, missing) != 0 || choose_tree(slot, missing) != 0) hierarchies_.clear();
    return 0;
  }
  find_hierarchies();
  const unsigned found = find_controllers();
  for (const auto& [name, bit] : {std::pair{"memory", memory}, {"pids", pids}, {"cpu", cpu}}) {
    if ((found & bit) == 0) missing += std::string{missing.empty() ? "" : ", "} + name;
  }
  if (!missing.empty()) return ENOTSUP;
  if (!remove_slot(slot)) return EBUSY;
  if (const int error = make_slots(slot, missing)) return error;
  return choose_tree(slot, missing);
}

void Cgroups::find_delegated(const Place& place) {
  if (place.cgroup.empty()) return;
  Hierarchy hierarchy;
  hierarchy.v2 = true;
  hierarchy.mount_point = place.cgroup;
  if (place.cgroup_has_room) hierarchy.controllers = controllers_in(place.cgroup);
  hierarchies_.push_back(std::move(hierarchy));
}

int Cgroups::make_slots(unsigned slot, std::string& missing) {
  for (Hierarchy& hierarchy : hierarchies_) {
    if (const int error = make_slot(hierarchy, slot)) {
      missing = "a writable " + hierarchy.mount_point;
      return error;
    }
  }
  return 0;
}

int Cgroups::choose_tree(unsigned slot, std::string& missing) {
  bool has_tree = false;
  for (size_t i = 0; i < hierarchies_.size(); ++i) {
    const bool kills = hierarchies_[i].v2 && exists(hierarchies_[i].slot.get(), "cgroup.kill");
    if (kills || (!has_tree && (hierarchies_[i].controllers & freezer) != 0)) {
      tree_ = i;
      cgroup_kill_ = kills;
      has_tree = true;
    }
  }
  if (!has_tree) missing = "cgroup.kill (cgroup v2) or the freezer (v1)";
  if (!has_tree) return ENOTSUP;
  // A hierarchy that neither limits nor kills need not be maintained.
  std::swap(hierarchies_[0], hierarchies_[tree_]);
  tree_ = 0;
  for (size_t i = hierarchies_.size() - 1; i > 0; --i) {
    if ((hierarchies_[i].controllers & ~freezer) != 0) continue;
    if (!remove_slot_of(hierarchies_[i].mount_point, slot)) return EBUSY;
    hierarchies_.erase(hierarchies_.begin() + static_cast<long>(i));
  }
  return 0;
}

bool Cgroups::remove_slot(unsigned slot) {
  const std::string path = "belljar/" + std::to_string(slot);
  // Kill everywhere first: a process leaves all hierarchies at once.
  for (const Hierarchy& hierarchy : hierarchies_) {
    const Fd root{::open(hierarchy.mount_point.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!root) continue;
    kill_group(root.get(), path);
  }
  bool removed = true;
  for (const Hierarchy& hierarchy : hierarchies_) {
    removed = remove_slot_of(hierarchy.mount_point, slot) && removed;
  }
  return removed;
}

}  // namespace belljar::launcher
