#pragma once

#include <string>

// A cgroup and those below it, as directories.
namespace belljar::launcher {

bool exists(int directory, const std::string& path);

// Kills every process in it: by cgroup.kill, else by the freezer.
void kill_group(int directory, const std::string& path);

// Removes a cgroup with those below it, which must be empty of processes. A cgroup tree is as deep
// as we made it. False if something is left.
bool remove_tree(int directory, const std::string& path);

// Where this process is in v2, as a path; "" if the host has no v2.
std::string own_cgroup_v2();

}  // namespace belljar::launcher
