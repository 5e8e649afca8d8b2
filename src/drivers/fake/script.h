#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "sandbox/command.h"
#include "sandbox/outcome.h"

namespace belljar {

// What the programs of one fake sandbox share.
struct FakeWorld {
  std::set<std::string> files;
  std::string workspace;     // a directory of the host, made when it is first needed
  std::set<uint16_t> ports;  // those that accept connections
  size_t running = 0;        // programs and their children

  const std::string& make_workspace();
};

// A program of the fake driver while it runs. Its text is the source file's content, or what
// `/bin/sh -c` was given: one order per line.
//
//   print TEXT        stderr TEXT       a line on one of the streams
//   write TEXT                          the same without the end of line
//   bytes HEX                           any bytes on stdout
//   spam N                              N bytes on stdout
//   echo stdin        env NAME          what it was given
//   args              source            argv after the file, one per line; the file's path
//   touch FILE        exists FILE       makes a file of the sandbox; prints true or false
//   await FILE                          waits until there is one
//   save PATH TEXT    show PATH         writes a real file beneath the workspace; prints one
//   remove PATH       link PATH TARGET  removes one, or a directory; makes a symbolic link
//   listen PORT       listen $PORT      accepts connections; each is greeted with "port PORT\n"
//   processes                           how many others run in the sandbox
//   fork FILE                           starts a child that hangs after making the file
//   exit N            signal N          ends
//   hang              oom               never ends; is killed for its memory
//
// Everything up to the first `await` or `hang` happens inside start(). An order it does not know
// ends the program with status 127 and a line on stderr.
class FakeProgram {
 public:
  // `sink` is null for a child, whose output goes nowhere.
  FakeProgram(const asio::any_io_executor& executor, Command command, OutputSink* sink,
              FakeWorld& world);
  ~FakeProgram();
  FakeProgram(const FakeProgram&) = delete;
  FakeProgram& operator=(const FakeProgram&) = delete;

  // Goes on until the program ends or has to wait.
  void step();
  void kill(Outcome::Kind why);

  bool ended() const { return ended_.is_set(); }
  const Outcome& outcome() const { return outcome_; }
  Task<> wait() { return ended_.wait(); }

 private:
  bool execute(std::string_view line);
  bool work_on_files(std::string_view order, const std::string& operand);
  void print(Stream stream, std::string_view bytes);
  void end(Outcome::Kind kind, int code);

  asio::any_io_executor executor_;
  Command command_;
  OutputSink* sink_;
  FakeWorld& world_;  // outlives every program that runs; one that has ended does not look at it
  std::vector<std::string> lines_;
  size_t next_ = 0;
  Event ended_;
  Outcome outcome_;
  std::vector<std::unique_ptr<FakeProgram>> children_;
};

// True for an argv the fake can execute: a Node.js with a source file, or `/bin/sh -c`.
bool fake_can_execute(const Command& command);

}  // namespace belljar
