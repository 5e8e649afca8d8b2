#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace belljar {

// A file that the program itself finds in its place: written inside the sandbox with the program's
// own rights just before it starts, so that no path of the sandbox is ever followed from outside.
struct SourceFile {
  std::string path;  // absolute, inside the sandbox
  std::string content;
};

struct Command {
  std::vector<std::string> argv;           // argv[0] is an absolute path inside the sandbox
  std::map<std::string, std::string> env;  // added to the sandbox's own variables
  std::optional<SourceFile> source;
  std::string input;                      // what the program reads on stdin; then end of file
  std::shared_ptr<const Fd> input_file;   // if set: stdin instead of `input`; may be a pipe's end
  std::shared_ptr<const Fd> output_file;  // if set: stdout goes here and not to the sink
};

enum class Stream { out, err };

// Takes what a process prints, as it appears. Bytes, not text: may be cut anywhere, need not be
// UTF-8.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  virtual void write(Stream stream, std::string_view bytes) = 0;
};

}  // namespace belljar
