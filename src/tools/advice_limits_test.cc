#include <gmock/gmock.h>

#include <csignal>

#include "tools/advice_testing.h"

namespace belljar::tools {
namespace {

using testing::HasSubstr;

TEST(AdviceOnLimits, TellsHowToGetMoreMemory) {
  Failure failure{R"(const a = []; while (true) a.push(Buffer.alloc(1 << 24, 1));)"};
  failure.kind(Kind::out_of_memory);
  const char* const advice =
      "Ask for more with \"limits\": {\"memory\": \"1g\"}, or handle the data in parts instead of "
      "all at once.";
  EXPECT_EQ(failure.advice(""), advice);
}

TEST(AdviceOnLimits, KnowsTheHeapLimitOfAWorker) {
  Failure failure{R"x(import { Worker } from "node:worker_threads";
const w = new Worker("const a=[]; while(1) a.push([1,{}])", {eval:true, resourceLimits:{maxOldGenerationSizeMb:20}});)x"};
  const char* const advice =
      "The JavaScript heap is full; the sandbox has 512 MiB of memory. Ask for more with "
      "\"limits\": {\"memory\": \"1g\"}, or handle the data in parts instead of all at once.";
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_WORKER_OUT_OF_MEMORY]: Worker terminated due to reaching memory limit: JS heap out of memory
    at Worker.<computed>.onexit (node:internal/worker:299:20) {
  code: 'ERR_WORKER_OUT_OF_MEMORY'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnLimits, TellsTheLastLineBeforeATimeout) {
  Failure failure{R"(console.log('step 1'); while (true);)"};
  failure.kind(Kind::timed_out);
  failure.printed("step 1\n");
  const char* const advice =
      "The last line it printed: \"step 1\". Look for a loop that does not end, a timer or "
      "connection that stays open, or input that it waits for; if it needs more time, set "
      "\"timeoutMs\" (at most 600000).";
  EXPECT_EQ(failure.advice(""), advice);
}

TEST(AdviceOnLimits, TellsThatATimeoutCameWithoutOutput) {
  Failure failure{R"(setInterval(()=>{}, 1000);)"};
  failure.kind(Kind::timed_out);
  const char* const advice =
      "It printed nothing. Look for a loop that does not end, a timer or connection that stays "
      "open, or input that it waits for; if it needs more time, set \"timeoutMs\" (at most "
      "600000).";
  EXPECT_EQ(failure.advice(""), advice);
}

TEST(AdviceOnLimits, TellsThatAServerNeedsListenOnPort) {
  Failure failure{R"(import http from 'node:http';
http.createServer().listen(3000, () => console.log('listening on 3000'));)"};
  failure.kind(Kind::timed_out);
  failure.printed("listening on 3000\n");
  const char* const advice =
      "The program is a server, which does not end: use sandbox_initialize and run_js with "
      "\"listenOnPort\", which leaves it running.";
  EXPECT_EQ(failure.advice(""), advice);
}

TEST(AdviceOnLimits, TellsHowToGetMoreDisk) {
  Failure failure{R"(import fs from 'node:fs';
fs.writeFileSync('big', Buffer.alloc(40e6));)"};
  const char* const advice =
      "The disk is full: the sandbox may write 256 MiB. Ask for more with \"limits\": {\"disk\": "
      "\"512m\"}, or write less and delete what is no longer needed.";
  EXPECT_EQ(failure.uncaught(R"(Error: ENOSPC: no space left on device, write
    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:105:5) {
  syscall: 'write',
  code: 'ENOSPC'
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnLimits, TellsThatTheFilesDirectoryIsOnAnotherDisk) {
  Failure failure{"1"};
  failure.run.host_files = true;
  const std::string advice = failure.uncaught(R"(Error: ENOSPC: no space left on device, write
    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:105:5) {
  code: 'ENOSPC'
})");
  EXPECT_NE(advice.find("256 MiB (for ./files the host's own disk is the limit)"),
            std::string::npos)
      << advice;
}

TEST(AdviceOnLimits, TellsHowToGetMoreProcesses) {
  Failure failure{R"(import { spawn } from 'node:child_process';
for (let i = 0; i < 400; i++) spawn('sleep', ['5']);)"};
  const char* const advice =
      "Too many processes and threads: the sandbox may have 256. Ask for more with \"limits\": "
      "{\"pids\": 512}, or start fewer at a time.";
  EXPECT_EQ(failure.uncaught(R"(Error: spawn sleep EAGAIN
    at process.processTicksAndRejections (node:internal/process/task_queues:90:21) {
  code: 'EAGAIN',
  syscall: 'spawn sleep',
  path: 'sleep',
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnLimits, KnowsAShellThatCannotFork) {
  Failure failure{R"(import { execSync } from 'node:child_process';
execSync('for i in $(seq 400); do sleep 5 & done');)"};
  const char* const advice =
      "Too many processes and threads: the sandbox may have 256. Ask for more with \"limits\": "
      "{\"pids\": 512}, or start fewer at a time.";
  EXPECT_EQ(failure.uncaught(R"(/bin/sh: 0: Cannot fork
node:internal/errors:999
  const err = new Error(message);
              ^

Error: Command failed: for i in $(seq 400); do sleep 5 & done
/bin/sh: 0: Cannot fork

    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:105:5) {
  status: 2,
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnLimits, KnowsTooManyOpenFiles) {
  Failure failure{R"(import fs from 'node:fs';
while (true) fs.openSync('/etc/passwd');)"};
  const char* const advice =
      "Too many files or sockets are open at once: close them after use, and handle many in groups "
      "of a few dozen.";
  EXPECT_EQ(failure.uncaught(R"(Error: EMFILE: too many open files, open '/etc/passwd'
    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:105:5) {
  code: 'EMFILE',
  syscall: 'open',
  path: '/etc/passwd'
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnLimits, TellsWhereAProgramMayWrite) {
  Failure failure{R"(import fs from 'node:fs';
fs.writeFileSync('/root/x', '1');)"};
  const char* const advice =
      "No permission for /root/x: the program can write beneath /workspace and /tmp only.";
  EXPECT_EQ(failure.uncaught(R"(Error: EACCES: permission denied, open '/root/x'
    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:105:5) {
  code: 'EACCES',
  syscall: 'open',
  path: '/root/x'
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnLimits, KnowsReadOnlyFileSystems) {
  Failure failure{R"(import fs from 'node:fs';
fs.writeFileSync('/usr/x', '1');)"};
  const char* const advice =
      "No permission for /usr/x: the program can write beneath /workspace and /tmp only.";
  EXPECT_EQ(failure.uncaught(R"(Error: EROFS: read-only file system, open '/usr/x'
    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:105:5) {
  code: 'EROFS',
  syscall: 'open',
  path: '/usr/x'
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnLimits, KnowsACommandThatIsMissing) {
  Failure failure{R"(import { execSync } from "node:child_process";
execSync("foo --bar");)"};
  const char* const advice =
      "There is no command \"foo\" in the sandbox: it has node, npm, npx, sh and the usual "
      "command-line tools. Use a module of Node.js or an npm package instead.";
  EXPECT_EQ(failure.uncaught(R"(/bin/sh: 1: foo: not found
node:internal/errors:999
  const err = new Error(message);
              ^

Error: Command failed: foo --bar
/bin/sh: 1: foo: not found

    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:105:5) {
  status: 127,
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnLimits, KnowsAProgramThatIsMissing) {
  Failure failure{R"(import { spawn } from "node:child_process";
spawn("foo");)"};
  const char* const advice =
      "There is no command \"foo\" in the sandbox: it has node, npm, npx, sh and the usual "
      "command-line tools. Use a module of Node.js or an npm package instead.";
  EXPECT_EQ(failure.uncaught(R"(Error: spawn foo ENOENT
    at process.processTicksAndRejections (node:internal/process/task_queues:90:21) {
  code: 'ENOENT',
  syscall: 'spawn foo',
  path: 'foo',
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnLimits, KnowsAFileThatIsMissing) {
  Failure failure{R"(import fs from 'node:fs';
fs.readFileSync('data.csv');)"};
  const char* const advice =
      "There is no file or directory data.csv (the working directory is /workspace). "
      "run_js_ephemeral begins with no files: give data as \"stdin\" or in the program, or use a "
      "session, where files persist.";
  EXPECT_EQ(failure.uncaught(R"(Error: ENOENT: no such file or directory, open 'data.csv'
    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:105:5) {
  code: 'ENOENT',
  syscall: 'open',
  path: 'data.csv'
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnLimits, KnowsAFileThatIsMissingForPromises) {
  Failure failure{R"(import fs from 'node:fs/promises';
await fs.readFile('data.csv');)"};
  const char* const advice =
      "There is no file or directory data.csv (the working directory is /workspace). "
      "run_js_ephemeral begins with no files: give data as \"stdin\" or in the program, or use a "
      "session, where files persist.";
  EXPECT_EQ(failure.uncaught(R"(Error: ENOENT: no such file or directory, open 'data.csv'
    at async file:///workspace/index.js:2:1 {
  code: 'ENOENT',
  syscall: 'open',
  path: 'data.csv'
})"),
            advice);  // Node.js 20, 22, 24
  EXPECT_EQ(failure.uncaught(R"([Error: ENOENT: no such file or directory, open 'data.csv'] {
  code: 'ENOENT',
  syscall: 'open',
  path: 'data.csv'
})"),
            advice);  // Node.js 26
}

TEST(AdviceOnLimits, KnowsADirectoryThatIsMissing) {
  Failure failure{R"(import fs from 'node:fs'; fs.mkdirSync('a/b/c'))"};
  const char* const advice =
      "A directory above a/b/c is missing: use mkdir with { recursive: true }.";
  EXPECT_EQ(failure.uncaught(R"(Error: ENOENT: no such file or directory, mkdir 'a/b/c'
    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:105:5) {
  code: 'ENOENT',
  syscall: 'mkdir',
  path: 'a/b/c'
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnLimits, KnowsThatTheHeapOfV8IsFull) {
  Failure failure{"x"};
  failure.kind(Kind::signaled, SIGABRT);
  for (const char* why : {"Reached heap limit", "CALL_AND_RETRY_LAST"}) {
    EXPECT_THAT(failure.advice(fmt::format("FATAL ERROR: {} Allocation failed - JavaScript heap "
                                           "out of memory\n----- Native stack trace -----\n",
                                           why)),
                HasSubstr("\"limits\": {\"memory\": \"1g\"}"));
  }
}

TEST(AdviceOnLimits, OffersNoMoreThanThereIs) {
  Failure failure{"x"};
  failure.kind(Kind::out_of_memory);
  failure.run.max_limits.memory = 768u << 20;
  EXPECT_THAT(failure.advice(""), HasSubstr("{\"memory\": \"768m\"}"));
  failure.run.max_limits.memory = failure.report.limits.memory;
  EXPECT_EQ(failure.advice(""),
            "That is the most this server allows: handle the data in parts instead of all at "
            "once.");
}

TEST(AdviceOnLimits, KnowsThatTheLimitsOfASessionStand) {
  Failure failure{"x"};
  failure.kind(Kind::out_of_memory);
  failure.run.session = true;
  EXPECT_THAT(failure.advice(""), HasSubstr("in a new sandbox (sandbox_initialize)"));
}

TEST(AdviceOnLimits, KnowsCommandsOfAShell) {
  Failure failure{""};
  failure.kind(Kind::exited, 127);
  EXPECT_THAT(failure.advice("/bin/sh: 1: cowsay: not found\n"), HasSubstr("command \"cowsay\""));
  failure.kind(Kind::exited, 126);
  EXPECT_THAT(failure.advice("/bin/sh: 1: ./x: Permission denied\n"), HasSubstr("node FILE"));
}

}  // namespace
}  // namespace belljar::tools
