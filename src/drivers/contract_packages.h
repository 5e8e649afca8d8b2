#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/fd.h"

namespace belljar::contract {

// A node_modules of the host, which goes with the object.
class Packages {
 public:
  explicit Packages(const std::map<std::string, std::string>& files);  // by their paths
  ~Packages();
  Packages(const Packages&) = delete;
  Packages& operator=(const Packages&) = delete;

  bool is_unchanged() const { return state() == before_; }
  const std::string& path() const { return path_; }

  std::shared_ptr<const Fd> directory;

 private:
  std::string state() const;

  std::string path_ = "/var/tmp/belljar-packages-XXXXXX";
  std::string before_;
};

}  // namespace belljar::contract
