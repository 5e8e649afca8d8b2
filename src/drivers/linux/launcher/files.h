#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

// Small file operations that return 0 or an errno instead of throwing.
namespace belljar::launcher {

int write_file_at(int directory, const char* path, std::string_view content);  // must exist
int create_file_at(int directory, const char* path, std::string_view content,
                   mode_t mode);                                          // must not exist
int create_directories_at(int directory, const char* path, mode_t mode);  // all parts
std::string read_file_at(int directory, const char* path);                // "" on failure

// Puts a new file with what `content`, a regular one, has from its beginning in the place of
// whatever is at `path`: so nothing there (a FIFO, a link to a device) can hold this up.
int replace_file(const char* path, int content);

// If `fd` is a pipe, makes it belong to `id`: so that a program may open /dev/stdout.
int give_pipe(int fd, unsigned id);

}  // namespace belljar::launcher
