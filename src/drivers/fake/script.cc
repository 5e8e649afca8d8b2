#include "drivers/fake/script.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace belljar {

namespace {

bool is_shell(const Command& command) {
  return command.argv.size() >= 3 && command.argv[0] == "/bin/sh" && command.argv[1] == "-c";
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::strtol(std::string{hex.substr(i, 2)}.c_str(), nullptr, 16));
  }
  return bytes;
}

// The program's own arguments: those after its file.
std::string arguments_of(const Command& command) {
  std::string text;
  bool found = false;
  for (const std::string& argument : command.argv) {
    if (found) text += argument + "\n";
    if (command.source && argument == command.source->path) found = true;
  }
  return text;
}

}  // namespace

const std::string& FakeWorld::make_workspace() {
  if (workspace.empty()) {
    std::string name = "/tmp/belljar-fake-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) fail_errno(errno, "make a directory");
    workspace = name;
    std::filesystem::create_directory(workspace + "/files");
  }
  return workspace;
}

bool fake_can_execute(const Command& command) {
  if (command.argv.empty()) return false;
  return is_shell(command) || (command.source && command.argv[0].ends_with("/bin/node"));
}

FakeProgram::FakeProgram(const asio::any_io_executor& executor, Command command, OutputSink* sink,
                         FakeWorld& world)
    : executor_{executor},
      command_{std::move(command)},
      sink_{sink},
      world_{world},
      lines_{split_lines(is_shell(command_) ? command_.argv[2] : command_.source->content)},
      ended_{executor} {
  ++world_.running;
}

FakeProgram::~FakeProgram() {
  kill(Outcome::Kind::cancelled);
}

void FakeProgram::step() {
  while (!ended() && next_ < lines_.size()) {
    if (!execute(lines_[next_])) return;
    ++next_;
  }
  if (!ended()) end(Outcome::Kind::exited, 0);
}

void FakeProgram::kill(Outcome::Kind why) {
  for (const auto& child : children_) child->kill(why);
  if (!ended()) end(why, 0);
}

void FakeProgram::print(Stream stream, std::string_view bytes) {
  if (sink_ != nullptr) sink_->write(stream, bytes);
}

void FakeProgram::end(Outcome::Kind kind, int code) {
  outcome_.kind = kind;
  outcome_.code = code;
  sink_ = nullptr;
  --world_.running;
  ended_.set();
}

// False if that is no such order.
bool FakeProgram::work_on_files(std::string_view order, const std::string& operand) {
  constexpr std::string_view kOrders[] = {"save", "show", "remove", "link"};
  if (std::find(std::begin(kOrders), std::end(kOrders), order) == std::end(kOrders)) return false;
  const size_t end = std::min(operand.find(' '), operand.size());
  const std::filesystem::path path = world_.make_workspace() + "/" + operand.substr(0, end);
  const std::string text = operand.substr(std::min(end + 1, operand.size()));
  if (order == "save") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
  } else if (order == "show") {
    std::ifstream file{path};
    const std::string content{std::istreambuf_iterator<char>{file}, {}};
    print(Stream::out, (file ? content : "(none)") + "\n");
  } else if (order == "remove") {
    std::filesystem::remove_all(path);
  } else {
    std::filesystem::create_symlink(text, path);
  }
  return true;
}

// False if the program has to wait at this line.
bool FakeProgram::execute(std::string_view line) {
  const size_t space = std::min(line.find(' '), line.size());
  const std::string_view order = line.substr(0, space);
  const std::string operand{line.substr(std::min(space + 1, line.size()))};
  const auto number = [&operand] { return std::atoi(operand.c_str()); };

  if (order == "print") {
    print(Stream::out, operand + "\n");
  } else if (order == "stderr") {
    print(Stream::err, operand + "\n");
  } else if (order == "write") {
    print(Stream::out, operand);
  } else if (order == "bytes") {
    print(Stream::out, from_hex(operand));
  } else if (order == "spam") {
    const std::string chunk(64 * 1024, 'x');
    for (size_t left = number(); left > 0;) {
      const size_t part = std::min(left, chunk.size());
      print(Stream::out, std::string_view{chunk}.substr(0, part));
      left -= part;
    }
  } else if (line == "echo stdin") {
    print(Stream::out, command_.input);
  } else if (order == "env") {
    const auto at = command_.env.find(operand);
    print(Stream::out, (at == command_.env.end() ? "undefined" : at->second) + "\n");
  } else if (order == "args") {
    print(Stream::out, arguments_of(command_));
  } else if (order == "source") {
    print(Stream::out, (command_.source ? command_.source->path : "none") + "\n");
  } else if (order == "touch") {
    world_.files.insert(operand);
  } else if (work_on_files(order, operand)) {
    return true;
  } else if (order == "listen") {
    const std::string port = operand == "$PORT" ? command_.env["PORT"] : operand;
    world_.ports.insert(static_cast<uint16_t>(std::atoi(port.c_str())));
  } else if (order == "exists") {
    print(Stream::out, world_.files.contains(operand) ? "true\n" : "false\n");
  } else if (order == "processes") {
    print(Stream::out, std::to_string(world_.running - 1) + "\n");
  } else if (order == "await") {
    return world_.files.contains(operand);
  } else if (order == "fork") {
    Command child;
    child.argv = {"/bin/sh", "-c", "touch " + operand + "\nhang"};
    children_.push_back(std::make_unique<FakeProgram>(executor_, child, nullptr, world_));
    children_.back()->step();
  } else if (order == "exit") {
    end(Outcome::Kind::exited, number());
  } else if (order == "signal") {
    end(Outcome::Kind::signaled, number());
  } else if (order == "oom") {
    end(Outcome::Kind::out_of_memory, SIGKILL);
  } else if (order == "hang") {
    return false;
  } else {
    print(Stream::err, "fake: unknown order: " + std::string{line} + "\n");
    end(Outcome::Kind::exited, 127);
  }
  return true;
}

}  // namespace belljar
