#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace belljar::network {

// Why `name` is no host name, as the end of a sentence that begins with it ("has a part of more
// than 63 characters"); "" if it is one. A host name has letters, digits, hyphens and underscores,
// and does not end in a number: resolvers take such names for addresses, each in its own way. A dot
// at the end is part of none.
std::string_view why_no_host_name(std::string_view name);

// The form in which names are compared: in lower case and without the dot at the end. Nothing if it
// is no host name.
std::optional<std::string> canonical_name(std::string_view name);

// Lower case for the letters of ASCII, whatever the locale says: DNS compares names like that.
std::string lower_ascii(std::string_view text);

// True if `name` ends in `.domain`, at any depth. Both in canonical form.
bool is_beneath(std::string_view name, std::string_view domain);

}  // namespace belljar::network
