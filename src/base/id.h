#pragma once

#include <string>

namespace belljar {

// `bytes` random bytes from the kernel as lower-case hexadecimal.
std::string random_hex(size_t bytes);

// A random (version 4) UUID in its usual form.
std::string random_uuid();

}  // namespace belljar
