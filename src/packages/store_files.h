#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"

namespace belljar::packages {

// A new directory that everybody may read, whatever the operator's umask is.
void make_directory(const std::string& path);

Fd open_directory_to_read(const std::string& path);

// A new file, 0644, with that content.
void write_new_file(const std::string& path, std::string_view content);
void write_new_file(int directory, const char* name, std::string_view content, unsigned mode);

// A copy with a life of its own, sharing blocks where the file system can.
void copy_file(int from, int to);

// The same error with what was being done; for a full disk also with what to do about it.
[[noreturn]] void fail_storing(const Error& error, std::string_view what,
                               const std::string& directory);

}  // namespace belljar::packages
