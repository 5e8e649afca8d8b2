#include <gmock/gmock.h>

#include <csignal>

#include "base/utf8.h"
#include "tools/advice_testing.h"

namespace belljar::tools {
namespace {

using testing::HasSubstr;

TEST(Advice, KnowsCrashes) {
  Failure failure{R"(process.kill(process.pid, 'SIGSEGV');)"};
  failure.kind(Kind::signaled, SIGSEGV);
  const char* const advice =
      "That is a crash of native code, or process.abort(): look for native addons, WebAssembly and "
      "process.kill() in the program.";
  EXPECT_EQ(failure.advice(""), advice);
}

TEST(Advice, KnowsSignalsFromInside) {
  Failure failure{R"(process.kill(process.pid, "SIGTERM"); setInterval(()=>{},1e3))"};
  failure.kind(Kind::signaled, SIGTERM);
  const char* const advice = "Something inside the sandbox sent it that signal: look for kill().";
  EXPECT_EQ(failure.advice(""), advice);
}

TEST(Advice, KnowsEndlessRecursion) {
  Failure failure{R"(function f() { return f() + 1; }
f();)"};
  const char* const advice =
      "A function calls itself without end or too deeply: check the condition that ends the "
      "recursion, or use a loop.";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
function f() { return f() + 1; }
               ^

RangeError: Maximum call stack size exceeded
    at f (file:///workspace/index.js:1:16))"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(Advice, KnowsRejectionsWithoutAnError) {
  Failure failure{R"(Promise.reject('nope');)"};
  const char* const advice =
      "A promise was rejected with a value that is not an Error and nobody caught it: await it in "
      "try/catch, and reject with new Error(\"…\") to get a stack trace.";
  EXPECT_EQ(
      failure.uncaught(
          R"(UnhandledPromiseRejection: This error originated either by throwing inside of an async function without a catch block, or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason "nope".
    at throwUnhandledRejectionsMode (node:internal/process/promises:322:7)
    at process.processTicksAndRejections (node:internal/process/task_queues:106:37) {
  code: 'ERR_UNHANDLED_REJECTION'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(Advice, KnowsThrownValuesThatAreNoErrors) {
  Failure failure{R"(throw 'x';)"};
  const char* const advice =
      "The program threw a value that is not an Error: throw new Error(\"…\") to get a message and "
      "a stack trace.";
  EXPECT_EQ(failure.uncaught(R"(
node:internal/modules/run_main:111
    triggerUncaughtException(
    ^
x
(Use `node --trace-uncaught ...` to show where the exception was thrown))"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(Advice, KnowsThrownObjects) {
  Failure failure{R"(throw {a:1};)"};
  const char* const advice =
      "The program threw a value that is not an Error: throw new Error(\"…\") to get a message and "
      "a stack trace.";
  EXPECT_EQ(failure.uncaught(R"(
node:internal/modules/run_main:111
    triggerUncaughtException(
    ^
{ a: 1 })"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(Advice, KnowsNamesOfBrowsers) {
  Failure failure{R"(window.alert(1);)"};
  const char* const advice =
      "\"window\" exists in browsers only, and this is Node.js. For a DOM add {\"name\": "
      "\"jsdom\", \"version\": \"latest\"} to \"dependencies\".";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
window.alert(1);
^

ReferenceError: window is not defined
    at file:///workspace/index.js:1:1)"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(Advice, NamesAnUncaughtErrorAndItsLine) {
  Failure failure{R"(console.log(foo);)"};
  const char* const advice = "Uncaught ReferenceError in line 1: foo is not defined";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
console.log(foo);
            ^

ReferenceError: foo is not defined
    at file:///workspace/index.js:1:13)"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(Advice, NamesASyntaxErrorAndItsLine) {
  Failure failure{R"(const x = ;)"};
  const char* const advice = "Syntax error in line 1: Unexpected token ';'";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
const x = ;
          ^

SyntaxError: Unexpected token ';'
    at compileSourceTextModule (node:internal/modules/esm/utils:355:16))"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(Advice, KnowsAnUnexpectedEnd) {
  Failure failure{R"(function f() {
  if (1) {
)"};
  const char* const advice = "Syntax error in line 3: Unexpected end of input";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:3



SyntaxError: Unexpected end of input
    at compileSourceTextModule (node:internal/modules/esm/utils:355:16))"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(Advice, DoesNotTakeBadJsonForBadSyntax) {
  Failure failure{R"(import fs from 'node:fs'; JSON.parse(fs.readFileSync(0,'utf8'));)"};
  const char* const advice = "Uncaught SyntaxError in line 1: Unexpected end of JSON input";
  EXPECT_EQ(failure.uncaught(R"(<anonymous_script>:1


SyntaxError: Unexpected end of JSON input
    at JSON.parse (<anonymous>)
    at file:///workspace/index.js:1:35)"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(Advice, KnowsAProgramThatEndsItself) {
  Failure failure{R"(process.exit(3);)"};
  failure.kind(Kind::exited, 3);
  const char* const advice =
      "It set this exit code itself, by process.exit() or process.exitCode: what it printed says "
      "why.";
  EXPECT_EQ(failure.advice(""), advice);
}

TEST(Advice, KnowsAPromiseThatNeverSettles) {
  Failure failure{"await new Promise(() => {});"};
  failure.kind(Kind::exited, 13);
  EXPECT_THAT(failure.advice(""), HasSubstr("at its top level never settled"));  // Node.js 20
  EXPECT_THAT(failure.advice("Warning: Detected unsettled top-level await at "
                             "file:///workspace/index.js:1\nawait new Promise(() => {});\n^\n\n\n"),
              HasSubstr("at its top level (line 1) never settled"));  // Node.js 22, 24, 26
}

TEST(Advice, HasNothingToSayAboutSuccessAndCancellation) {
  Failure failure{"x"};
  failure.kind(Kind::exited, 0);
  EXPECT_EQ(failure.advice("Error: Cannot find package 'x' imported from /workspace/index.js"), "");
  failure.kind(Kind::cancelled);
  EXPECT_EQ(failure.advice("Error: spawn x ENOENT"), "");
}

TEST(Advice, IsAboutTheErrorThatEndedTheProgram) {
  Failure failure{"x"};
  failure.report.result.err.text =
      "TypeError: fetch failed\n  code: 'EAI_AGAIN'\nError: Cannot find package 'lodash' imported "
      "from x\nfile:///workspace/index.js:7\nthrow new Error('no');\n      ^\n\nError: no\n    at "
      "file:///workspace/index.js:7:7\n\nNode.js v24.21.0\n";
  EXPECT_EQ(advise(failure.run), "Uncaught Error in line 7: no");
}

TEST(Advice, IsOneBoundedLineWhateverTheProgramPrints) {
  const std::string zalgo = "\xff\x1b[2J\u0000\n\n" + std::string(100'000, 'x');
  for (const std::string& text :
       {"Error: " + zalgo, zalgo, "Error: Cannot find module '/" + zalgo + "' imported from",
        "Error: spawn " + zalgo + " ENOENT", "SyntaxError: Named export '" + zalgo + "'",
        "ReferenceError: require is not defined" + zalgo, std::string(200'000, '\n'),
        "Error: ENOENT\n  code: 'ENOENT',\n  path: '" + zalgo + "'\n}"}) {
    Failure failure{"const x = require('" + zalgo};
    for (const std::string& advice : {failure.advice(text), failure.uncaught(text)}) {
      EXPECT_LE(advice.size(), 402u);
      EXPECT_TRUE(is_utf8(advice));
      EXPECT_EQ(advice.find_first_of("\n\x1b"), std::string::npos);
    }
  }
}

TEST(Advice, StandsBehindTheReason) {
  Failure failure{"throw 1"};
  failure.report.result.err.text =
      "node:internal/modules/run_main:123\n    triggerUncaughtException(\n    ^\n\n1\n(Use `node "
      "--trace-uncaught ...` to show where the exception was thrown)\n\nNode.js v26.10.0\n";
  EXPECT_THAT(explain_failure(failure.run, "the program"),
              testing::StartsWith("the program exited with code 1. The program threw a value"));
  failure.kind(Kind::cancelled);
  EXPECT_EQ(explain_failure(failure.run, "the program"),
            failure_reason(failure.report, "the program"));
}

}  // namespace
}  // namespace belljar::tools
