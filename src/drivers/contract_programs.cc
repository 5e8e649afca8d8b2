#include "drivers/contract_programs.h"

#include "drivers/fake/driver.h"

namespace belljar::contract {

const Program kHelloAndExit3{"console.log('hello'); process.exitCode = 3;", "print hello\nexit 3"};

const Program kBothStreams{"console.error('to stderr'); console.log('to stdout');",
                           "stderr to stderr\nprint to stdout"};

const Program kShowWhatItWasGiven{
    R"(import { readFileSync } from 'node:fs';
       process.stdout.write(readFileSync(0, 'utf8'));
       console.log(process.env.COLOUR);
       for (const argument of process.argv.slice(2)) console.log(argument);)",
    "echo stdin\nenv COLOUR\nargs"};

const Program kCopyInput{"process.stdin.pipe(process.stdout);", "echo stdin"};

const Program kOwnPath{"console.log(process.argv[1]);", "source"};

const Program kDieBySegmentationFault{
    "process.kill(process.pid, 'SIGSEGV'); setInterval(() => {}, 1000);", "signal 11"};

const Program kHangWithAChild{
    R"(import { spawn } from 'node:child_process';
       for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2', 'SIGPIPE']) {
         process.on(name, () => {});
       }
       if (process.argv[2] !== 'child') {
         spawn(process.execPath, [process.argv[1], 'child'], { stdio: 'inherit', detached: true });
       }
       setInterval(() => {}, 1000);)",
    "fork child\nhang"};

const Program kPrintAndHang{"console.log('still here'); setInterval(() => {}, 1000);",
                            "print still here\nhang"};

const Program kLeaveADaemon{
    R"(import { spawn } from 'node:child_process';
       if (process.argv[2] === 'child') {
         setInterval(() => {}, 1000);
       } else {
         const options = { stdio: 'inherit', detached: true };
         spawn(process.execPath, [process.argv[1], 'child'], options).unref();
         console.log('gone');
       })",
    "fork child\nprint gone"};

const Program kAwaitFlag{
    R"(import { existsSync } from 'node:fs';
       const timer = setInterval(() => {
         if (!existsSync('/workspace/flag')) return;
         clearInterval(timer);
         console.log('saw the flag');
       }, 5);)",
    "await flag\nprint saw the flag"};

const Program kMakeFlag{
    "import { writeFileSync } from 'node:fs'; writeFileSync('/workspace/flag', '');", "touch flag"};

const Program kFlagExists{
    "import { existsSync } from 'node:fs'; console.log(existsSync('/workspace/flag'));",
    "exists flag"};

const Program kPrint100MiB{
    R"(import { writeSync } from 'node:fs';
       const chunk = Buffer.alloc(65536, 'x');
       for (let i = 0; i < 1600; ++i) {
         for (let done = 0; done < chunk.length;) done += writeSync(1, chunk, done);
       })",
    "spam 104857600"};

const Program kEatMemory{"const all = []; for (;;) all.push(Buffer.alloc(16 << 20, 1));", "oom"};

const Program kCountOthers{
    R"(import { readFileSync, readdirSync } from 'node:fs';
       const isProgram = (pid) => {
         try {
           return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('program.mjs');
         } catch {
           return false;
         }
       };
       const others = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name != process.pid);
       console.log(others.filter(isProgram).length);)",
    "processes"};

void PrintTo(const DriverUnderTest& subject, std::ostream* out) {
  *out << subject.name;
}

DriverUnderTest fake_driver() {
  DriverUnderTest subject;
  subject.name = "fake";
  subject.make = [](const asio::any_io_executor& executor) {
    return std::make_unique<FakeDriver>(executor);
  };
  subject.image.name = "node:fake";
  subject.image.node_version = "24.0.0";
  subject.dialect = DriverUnderTest::Dialect::script;
  subject.moment = milliseconds{5};
  return subject;
}

SandboxSpec Bench::spec() const {
  SandboxSpec spec;
  spec.image = subject_.image;
  return spec;
}

Command Bench::command(const Program& program) {
  const bool script = is_fake();
  Command command;
  // Each its own file: a program that is just starting may not have read its own yet.
  const std::string path = "/workspace/program" + std::to_string(++programs_) + ".mjs";
  command.source = SourceFile{path, script ? program.script : program.javascript};
  command.argv = {node_path(subject_.image), command.source->path};
  return command;
}

Task<RunResult> Bench::run_in(Sandbox& sandbox, const Program& program) {
  const RunLimits limits;
  co_return co_await run_program(sandbox, command(program), limits, nullptr);
}

Task<RunResult> Bench::run_alone(Command command) {
  const auto sandbox = co_await create();
  const RunLimits limits;
  RunResult result = co_await run_program(*sandbox, std::move(command), limits, nullptr);
  co_await sandbox->destroy();
  co_return result;
}

Task<bool> Bench::becomes_empty(Sandbox& sandbox) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    const RunResult result = co_await run_in(sandbox, kCountOthers);
    if (result.out.text == "0\n") co_return true;
    co_await sleep_for(milliseconds{10});
  }
  co_return false;
}

}  // namespace belljar::contract
