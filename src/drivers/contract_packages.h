#pragma once

#include <map>
#include <string>

#include "drivers/contract_programs.h"
#include "sandbox/driver.h"

namespace belljar::contract {

// A node_modules of the host, which goes with the object.
class Packages {
 public:
  explicit Packages(const std::map<std::string, std::string>& files);  // by their paths
  ~Packages();
  Packages(const Packages&) = delete;
  Packages& operator=(const Packages&) = delete;

  bool is_unchanged(const Bench& bench) const;
  const std::string& path() const { return path_; }
  PackageDirectories over(const Packages& base) const;  // both

  PackageDirectories directory;  // this one alone

 private:
  std::string state(bool counts_links) const;

  std::string path_ = "/var/tmp/belljar-packages-XXXXXX";
  std::string before_;
  std::string before_links_;  // the same without what links change
};

}  // namespace belljar::contract
