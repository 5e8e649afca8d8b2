#include "drivers/docker/agent_under_test.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>

namespace belljar::docker {

namespace fs = std::filesystem;

namespace {

constexpr const char* kOrdinaryUser = "1000";

Task<> wait_for_end(pid_t process) {
  const int pidfd =
      static_cast<int>(sys(::syscall(SYS_pidfd_open, process, 0), "watch process {}", process));
  asio::posix::stream_descriptor ended{co_await asio::this_coro::executor, pidfd};
  co_await ended.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
}

}  // namespace

AgentUnderTest::AgentUnderTest(Place place) : place_{place} {
  if (::mkdtemp(root_.data()) == nullptr) fail_errno(errno, "make a directory");
  sys(::chmod(root_.c_str(), 0755), "open {}", root_);
  for (const char* name : {"/host", "/bin", "/workspace", "/workspace/files"})
    fs::create_directory(root_ + name);
  sys(::chmod(workspace().c_str(), 0777), "open {}", workspace());
  // Where that user can reach it.
  fs::copy_file(fs::read_symlink("/proc/self/exe").parent_path() / "belljar-agent",
                root_ + "/agent");
  write_file_atomically(node(), "#!/bin/sh\necho I am node, $1\n", 0755);
}

AgentUnderTest::~AgentUnderTest() {
  if (process_ > 0) wait();
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

std::vector<std::string> AgentUnderTest::command() const {
  const std::string agent = root_ + "/agent";
  if (place_ == Place::here) return {agent, host(), workspace()};
  if (place_ == Place::carried) return {agent, agent::kCarried, host(), workspace()};
  const bool is_root = ::geteuid() == 0;
  std::vector<std::string> words{"/usr/bin/unshare", "--pid", "--fork", "--kill-child"};
  if (!is_root) words.insert(words.end(), {"--user", "--map-root-user"});
  if (place_ == Place::container) {
    words.emplace_back("--mount-proc");
  } else {
    const char* const script = "mount -t tmpfs none /proc && exec \"$@\"";
    words.insert(words.end(), {"--mount", "/bin/sh", "-c", script, "sh"});
  }
  const std::string user = kOrdinaryUser;
  if (is_root)
    words.insert(words.end(), {"/usr/bin/setpriv", "--reuid=" + user, "--regid=" + user,
                               "--clear-groups", "--inh-caps=-all"});
  words.insert(words.end(), {agent, host(), workspace()});
  return words;
}

void AgentUnderTest::spawn() {
  const std::vector<std::string> words = command();
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::string path = "PATH=/nowhere:" + root_ + "/bin:/usr/bin:/bin";
  char* environment[] = {path.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int fd = 0; stream_ && fd <= 1; ++fd)
    ::posix_spawn_file_actions_adddup2(&actions, stream_.get(), fd);
  const int error = ::posix_spawn(&process_, argv[0], &actions, nullptr, argv.data(), environment);
  ::posix_spawn_file_actions_destroy(&actions);
  stream_.reset();
  if (error != 0) fail_errno(error, "start " + words[0]);
}

Task<std::unique_ptr<AgentClient>> AgentUnderTest::connect() {
  if (place_ == Place::carried) {
    int ends[2];
    sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "a stream");
    stream_.reset(ends[1]);
    agent::Carrier::Host host{open_directory(workspace()), open_directory(root_), false};
    carried_ = std::make_unique<CarriedAgent>(co_await asio::this_coro::executor, Fd{ends[0]},
                                              std::move(host));
    spawn();
    co_return co_await carried_->accept();
  }
  const Fd directory = open_directory(host());
  AgentListener listener{co_await asio::this_coro::executor, directory.get()};
  spawn();
  using namespace asio::experimental::awaitable_operators;
  auto first = co_await (listener.accept() || wait_for_end(process_));
  if (first.index() == 1) co_return nullptr;
  co_return std::move(std::get<0>(first));
}

int AgentUnderTest::wait() {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return status;
}

TestProgram::TestProgram(const asio::any_io_executor& executor)
    : output_{executor}, ended_{std::make_shared<Event>(executor)} {
  Pipe pipe = make_pipe();
  output_.assign(pipe.read.release());
  output_.non_blocking(true);
  write_end_ = std::move(pipe.write);
}

Task<std::unique_ptr<TestProgram>> TestProgram::start(AgentClient& client, uint64_t number,
                                                      std::string script) {
  Command command;
  command.argv = {"/bin/sh", "-c", std::move(script)};
  command.env = {{"PATH", "/usr/bin:/bin"}};
  co_return co_await start(client, number, std::move(command));
}

Task<std::unique_ptr<TestProgram>> TestProgram::start(AgentClient& client, uint64_t number,
                                                      Command command) {
  std::unique_ptr<TestProgram> program{new TestProgram{co_await asio::this_coro::executor}};
  client.on_end(number, [ended = program->ended_, place = program->end_](const ProgramEnd& end) {
    *place = end;
    ended->set();
  });
  const Fd input{sys(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open /dev/null")};
  const int out = program->write_end_.get();
  co_await client.start(number, command, input.get(), out, out);
  program->write_end_.reset();
  co_return program;
}

Task<ProgramEnd> TestProgram::wait() {
  co_await ended_->wait();
  co_return *end_;
}

// False at the end of the pipe.
Task<bool> TestProgram::read_more() {
  char buffer[4096];
  co_await output_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
  const ssize_t size = sys(::read(output_.native_handle(), buffer, sizeof buffer), "read output");
  text_.append(buffer, static_cast<size_t>(size));
  co_return size > 0;
}

Task<std::string> TestProgram::read_line() {
  size_t end = text_.find('\n');
  while (end == std::string::npos && co_await read_more()) end = text_.find('\n');
  std::string line = text_.substr(0, end);
  text_.erase(0, end == std::string::npos ? end : end + 1);
  co_return line;
}

Task<std::string> TestProgram::rest() {
  while (co_await read_more()) {
  }
  co_return std::exchange(text_, {});
}

}  // namespace belljar::docker
