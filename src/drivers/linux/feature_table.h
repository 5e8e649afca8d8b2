#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/linux/host_checks.h"
#include "drivers/linux/launcher/protocol.h"
#include "sandbox/capabilities.h"

// The one table of what sandboxes need of a host: names, what each is for, how it is found out, and
// what to do where it is missing. docs/doctor.md explains the names to users.
namespace belljar::linux_driver {

struct FeatureRow {
  const char* name;
  const char* group;  // "" for none
  Feature::Need need;
  // Found out by one of these: a trial in the launcher, or what it reports once it is set up.
  std::optional<launcher::Trial> trial;
  uint32_t fact;
  const char* how;        // {cgroup} and {landlock} stand for their versions
  const char* otherwise;  // what is so without it
  const char* fix;
  const char* step;  // a word of those steps of the launcher that fail without it; "" for none
};
std::span<const FeatureRow> feature_table();

// Every name and group that --require knows.
std::vector<std::string> feature_names();

// Whose launcher it is, from what it reports. belljar's own id says nothing: it may have changed.
Privileges privileges_of(uint32_t facts);

// What the table says of a host: `found` has the facts and the trials of the launcher. Rows about
// facts are left out if there are none yet.
std::vector<Feature> describe_features(const launcher::Reply& found, const HostFiles& host);

// The grade of a host on which sandboxes work, from what the launcher reports with each of them.
Isolation isolation_of_facts(const launcher::Reply& facts);

// What to do about a message of the launcher's that names the step that failed; "" if the table
// does not know.
std::string fix_for_failure(std::string_view failure, const HostFiles& host, Privileges privileges);

}  // namespace belljar::linux_driver
