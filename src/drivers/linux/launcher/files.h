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

}  // namespace belljar::launcher
