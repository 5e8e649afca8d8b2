#pragma once

#include <string>
#include <string_view>

#include "packages/semver.h"
#include "runtime/release_schedule.h"

namespace belljar::runtime {

// Which Node.js a client asks for, in the words of the official images: "node", "node:lts",
// "node:lts-slim", "node:26", "node:24.1-slim", "node:22.23.3-bookworm", "node:latest", "node:jod".
// The suffix says which system the image would be built on; ours is always the same slim one.
struct ImageName {
  enum class Kind {
    lts,     // the newest long-term support version; also no tag at all
    newest,  // "latest", "current"
    version  // as `range` says
  };
  std::string text;  // as given
  Kind kind = Kind::lts;
  std::string version;  // "24", "24.1", "24.1.0"
  packages::Range range;

  // This version is what the name means today.
  bool means(const packages::Version& version, Date today) const;

  // This version may stand in when the one that is meant cannot be had: another LTS for "lts".
  bool accepts(const packages::Version& version, Date today) const;
};

// Throws Error{invalid} for anything else, with a reason and examples; the name is quoted shortened
// to 80 characters and made printable.
ImageName parse_image_name(std::string_view text);

// At most 80 characters of what a stranger sent, fit for a message.
std::string quote_briefly(std::string_view text);

}  // namespace belljar::runtime
