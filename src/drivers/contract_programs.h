#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "sandbox/driver.h"
#include "sandbox/run.h"

// The programs of the driver contract suite and the place where they run. Each program exists
// twice, once for drivers with a real Node.js and once as a script of the fake driver.
namespace belljar::contract {

// A driver to be examined. `make` returns null if the machine does not have what the driver needs.
struct DriverUnderTest {
  enum class Dialect { javascript, script };

  std::string name;
  std::function<std::unique_ptr<Driver>(asio::any_io_executor)> make;
  Image image;
  Dialect dialect = Dialect::javascript;
  bool is_container = false;    // of an engine, which mounts for us only at the beginning
  bool has_own_kernel = false;  // and so ends as a whole when memory is short
  // Enough for a program to start and to have started its child.
  milliseconds moment{1500};
};

void PrintTo(const DriverUnderTest& subject, std::ostream* out);

DriverUnderTest fake_driver();

struct Program {
  const char* javascript;
  const char* script;
};

extern const Program kHelloAndExit3;
extern const Program kBothStreams;
extern const Program kShowWhatItWasGiven;  // stdin, $COLOUR and its arguments
extern const Program kCopyInput;
extern const Program kOwnPath;
extern const Program kDieBySegmentationFault;
extern const Program kHangWithAChild;  // both ignore every signal they can
extern const Program kPrintAndHang;    // "still here"
extern const Program kLeaveADaemon;    // prints "gone" and leaves a child that holds its output
extern const Program kAwaitFlag;       // ends with "saw the flag" once kMakeFlag has run
extern const Program kMakeFlag;
extern const Program kFlagExists;
extern const Program kPrint100MiB;
extern const Program kEatMemory;
extern const Program kCountOthers;  // how many other programs of these run in the sandbox

// Collects what a process prints.
struct Sink final : OutputSink {
  void write(Stream stream, std::string_view bytes) override {
    (stream == Stream::out ? out : err) += bytes;
  }
  std::string out;
  std::string err;
};

// A driver under test and short ways to use it.
class Bench {
 public:
  Bench(Driver& driver, const DriverUnderTest& subject) : driver_{driver}, subject_{subject} {}

  Driver& driver() { return driver_; }
  std::unique_ptr<Driver> make_another(const asio::any_io_executor& executor) const {
    return subject_.make(executor);
  }
  milliseconds moment() const { return subject_.moment; }
  bool is_fake() const { return subject_.dialect == DriverUnderTest::Dialect::script; }
  bool is_container() const { return subject_.is_container; }
  bool has_own_kernel() const { return subject_.has_own_kernel; }
  SandboxSpec spec() const;
  Command command(const Program& program);

  Task<std::unique_ptr<Sandbox>> create() { return driver_.create(spec()); }
  Task<std::unique_ptr<Sandbox>> create(SandboxSpec spec) {
    return driver_.create(std::move(spec));
  }
  Task<RunResult> run_in(Sandbox& sandbox, const Program& program);

  // In a sandbox of its own, which is destroyed afterwards.
  Task<RunResult> run_alone(const Program& program) { return run_alone(command(program)); }
  Task<RunResult> run_alone(Command command);

  // Waits a while for the end of everything that runs in the sandbox; false if it does not come.
  Task<bool> becomes_empty(Sandbox& sandbox);

 private:
  Driver& driver_;
  const DriverUnderTest& subject_;
  int programs_ = 0;
};

}  // namespace belljar::contract
