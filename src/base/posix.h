#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"

namespace belljar {

// Both ends close-on-exec.
Pipe make_pipe();

// An anonymous file in memory that holds `content`, positioned at its start and sealed against
// change.
Fd make_memory_file(const char* name, std::string_view content);

// The directory as a handle only (O_PATH): what other system calls resolve names beneath.
Fd open_directory(const std::string& path);

// The whole file, or an Error that names it; more than `limit` bytes is an Error too.
std::string read_file(const std::string& path, size_t limit = 16u << 20);

// Everything until the end of the open file, pipe or socket; `name` is for errors. Blocks.
std::string read_to_end(int fd, const std::string& name, size_t limit);

// Writes a file so that a reader sees the old content or the new one, never a part of it.
void write_file_atomically(const std::string& path, std::string_view content, unsigned mode = 0644);

// The same without waiting for the disk, which takes long while much else is being written. After a
// power failure the file may hold anything: for what its reader checks.
void replace_file(const std::string& path, std::string_view content, unsigned mode = 0644);

void make_directories(const std::string& path, unsigned mode = 0755);

// Where another program of this build or installation is: beside the running one, or in
// ../libexec/belljar/.
std::string own_program(std::string_view name);

// The environment variable, or "" if it is not set.
std::string environment(const char* name);

}  // namespace belljar
