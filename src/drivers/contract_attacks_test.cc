// Hostile programs against packages that are mounted into their sandbox: these stay as they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/task_group.h"
#include "drivers/contract_fixture.h"
#include "drivers/contract_packages.h"
#include "sandbox/run.h"

namespace belljar::contract {
namespace {

const std::map<std::string, std::string> kFiles{
    {"one/index.js", "1"}, {"two/index.js", "2"}, {"two/lib/more.js", "more"}, {"three.js", "3"}};

// By every way that Node.js has. Each goes as far as it gets: most change a copy of the program's.
const char* const kChangeFiles = R"(
import fs from 'node:fs';
import { execFileSync } from 'node:child_process';
const at = (name) => `node_modules/${name}`;
let tried = 0;
const attempt = (what) => { try { ++tried; return what(); } catch { return undefined; } };
const files = ['one/index.js', 'two/index.js', 'two/lib/more.js', 'three.js'].map(at);
const reading = files.map((file) => fs.openSync(file, 'r'));  // of what is below, before any change
for (const fd of reading) {
  attempt(() => fs.writeSync(fd, 'evil'));
  attempt(() => fs.ftruncateSync(fd, 0));
  attempt(() => fs.fchmodSync(fd, 0o777));
  attempt(() => fs.fchownSync(fd, 1000, 1000));
  attempt(() => fs.futimesSync(fd, 1, 1));
  for (const flag of ['r+', 'w', 'a']) {
    attempt(() => fs.writeFileSync(`/proc/self/fd/${fd}`, 'evil', { flag }));
  }
}
for (const [i, file] of files.entries()) {
  attempt(() => fs.linkSync(file, `/tmp/link${i}`));
  attempt(() => fs.linkSync(file, `/workspace/link${i}`));
  attempt(() => fs.linkSync(file, `${file}.link`));
  attempt(() => fs.linkSync(`/proc/self/fd/${reading[i]}`, `/tmp/descriptor${i}`));
  for (const name of [`/tmp/link${i}`, `/workspace/link${i}`, `${file}.link`, `/tmp/descriptor${i}`]) {
    attempt(() => fs.writeFileSync(name, 'evil'));
  }
  attempt(() => fs.utimesSync(file, 1, 1));
  attempt(() => fs.chmodSync(file, 0o777));
  attempt(() => fs.chownSync(file, 1000, 1000));
  attempt(() => fs.truncateSync(file, 0));
  attempt(() => fs.appendFileSync(file, 'evil'));
  attempt(() => fs.copyFileSync('/etc/passwd', file));
  attempt(() => fs.renameSync(file, `/tmp/moved${i}`));
  attempt(() => fs.writeFileSync('/tmp/new', 'evil'));
  attempt(() => fs.renameSync('/tmp/new', file));
  attempt(() => fs.writeFileSync('node_modules/new', 'evil'));
  attempt(() => fs.renameSync('node_modules/new', file));
}
attempt(() => fs.renameSync(at('two'), at('four')));
attempt(() => fs.renameSync('node_modules', 'elsewhere'));
attempt(() => fs.symlinkSync('/workspace/node_modules', '/tmp/way'));
attempt(() => fs.writeFileSync('/tmp/way/one/evil', 'evil'));
for (const name of ['changed', 'work', 'packages', '../changed', '../packages/three.js']) {
  attempt(() => fs.readdirSync(at(name)) && process.stdout.write(`found ${name}\n`));
}
for (const pid of ['self', '1']) attempt(() => fs.writeFileSync(`/proc/${pid}/root/workspace/node_modules/three.js`, 'evil'));
attempt(() => fs.rmSync(at('one'), { recursive: true }));
attempt(() => fs.mkdirSync(at('one')));
attempt(() => fs.rmSync('node_modules', { recursive: true }));
for (const tool of [['umount', '/workspace/node_modules'], ['umount', '-l', '/workspace/node_modules'],
                    ['mount', '-o', 'remount,rw', '/workspace/node_modules'],
                    ['mount', '--bind', '/workspace/node_modules', '/tmp']]) {
  attempt(() => execFileSync(`/bin/${tool[0]}`, tool.slice(1), { stdio: 'ignore' }) && process.stdout.write(`${tool} worked\n`));
}
console.log(tried > 100 ? 'tried' : tried);
)";

// System calls of x86-64 that nothing but a shell's tool could make. Prints those that worked.
const char* const kMakeCalls = R"(
my $place = "/workspace/node_modules"; my $file = "$place/three.js"; my $none = 0; my $tried = 0;
# Not syscall(@rest): that is the call whose number is how many there are.
sub call { my ($name, $number, @rest) = @_; ++$tried; print "$name worked\n" if syscall($number, @rest) >= 0; }
my $tmpfs = "tmpfs"; my $overlay = "overlay"; my $options = "lowerdir=/usr"; my $empty = ""; my $tmp = "/tmp";
for my $flags (0, 1, 32, 4096, 4096|32, 32|1, 8192, 1<<18, 1<<20) {
  call("mount $flags", 165, $place, $tmp, $tmpfs, $flags, $options);
  call("mount over $flags", 165, $tmp, $place, $overlay, $flags, $options);
  call("umount $flags", 166, $place, $flags & 15);
}
call("open_tree", 428, -100, $place, 1); call("move_mount", 429, -100, $place, -100, $tmp, 0);
call("fsopen", 430, $overlay, 0); call("fspick", 433, -100, $place, 0);
my $attributes = pack("QQQQ", 0, 1, 0, 0); call("mount_setattr", 442, -100, $place, 0, $attributes, 32);
call("unshare", 272, 0x10020000); call("chroot", 161, $place); call("pivot_root", 155, $place, $place);
my $handle = pack("LLQQ", 8, 1, 2, 0); call("open_by_handle_at", 304, -100, $handle, 0);
call("mknod", 133, "$place/whiteout", 0020000, 0);
for my $name ("trusted.overlay.opaque", "trusted.overlay.redirect", "trusted.overlay.metacopy", "security.capability") {
  for my $target ($file, $place, "$place/two") { my $value = "y"; call("setxattr $name", 188, $target, $name, $value, 1, 0); }
}
# Of these some may work: they are names like any other, and must mean nothing.
for my $name ("opaque", "redirect", "origin", "metacopy", "impure", "nlink", "upper", "overlay.opaque") {
  for my $target ($file, $place, "$place/two", "$place/two/lib") {
    my $key = "user.overlay.$name"; my $value = $name eq "redirect" ? "/../../../etc" : "y"; ++$tried;
    syscall(188, $target, $key, $value, length $value, 0); syscall(197, $target, $key);
  }
}
# A shared mapping of what is below, and of the copy.
for my $mode ("<", "+<") {
  open(my $fd, $mode, $file) or next; pipe(my $out, my $in); syswrite($in, "evil"); ++$tried;
  my $address = syscall(9, 0, 4096, 3, 1, fileno($fd), 0); syscall(0, fileno($out), $address, 4) if $address > 0;
}
print $tried > 60 ? "tried\n" : "$tried\n";
)";

const char* const kShowMounts = R"(
import fs from 'node:fs';
const lines = fs.readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n').map((line) => line.split(' '));
const own = lines.filter((words) => words[4].startsWith('/workspace/node_modules'));
for (const words of own) console.log(words.slice(3).filter((word) => !/^(master|shared):/.test(word)).join(' '));
console.log(lines.length);
)";

const char* const kFillTheDisk = R"(
import fs from 'node:fs';
const chunk = Buffer.alloc(1 << 20);
const file = fs.openSync('node_modules/big', 'w');
let size = 0;
try { for (;;) size += fs.writeSync(file, chunk); } catch (error) { console.log(error.code, size >> 20); }
)";

// Until a mount keeps the place from being removed.
const char* const kSwapThePlace = R"(
import fs from 'node:fs';
const place = '/workspace/node_modules';
const attempt = (what) => { try { what(); } catch {} };
console.log('up');
for (;;) {
  attempt(() => fs.symlinkSync('/tmp', place));
  attempt(() => fs.unlinkSync(place));
  attempt(() => fs.rmdirSync(place));
}
)";

Command node(const Bench& bench, const char* text) {
  Command command;
  command.source = SourceFile{"/workspace/attack.mjs", text};
  command.argv = {node_path(bench.spec().image), command.source->path};
  return command;
}

Task<RunResult> run_in(Sandbox& sandbox, Command command) {
  const RunLimits limits;
  co_return co_await run_program(sandbox, std::move(command), limits, nullptr);
}

Task<> changed_by_node(Bench& bench) {
  if (bench.is_fake()) co_return;
  const Packages packages{kFiles};
  const auto sandbox = co_await bench.create();
  co_await sandbox->mount_packages(packages.directory);
  const RunResult result = co_await run_in(*sandbox, node(bench, kChangeFiles));
  EXPECT_EQ(result.out.text, "tried\n") << result.err.text;
  EXPECT_TRUE(packages.is_unchanged(bench));
  co_await sandbox->destroy();
}
TEST_P(DriverContract, KeepsPackagesFromEveryWayToChangeFiles) {
  check(changed_by_node);
}

#ifdef __x86_64__
Task<> changed_by_calls(Bench& bench) {
  if (bench.is_fake()) co_return;
  const Packages packages{kFiles};
  const auto sandbox = co_await bench.create();
  co_await sandbox->mount_packages(packages.directory);
  Command command;
  command.argv = {"/usr/bin/perl", "-e", kMakeCalls};
  const RunResult result = co_await run_in(*sandbox, std::move(command));
  EXPECT_EQ(result.out.text, "tried\n") << result.err.text;
  EXPECT_TRUE(packages.is_unchanged(bench));
  co_await sandbox->destroy();
}
TEST_P(DriverContract, KeepsPackagesFromSystemCalls) {
  check(changed_by_calls);
}
#endif

Task<size_t> count_mounts(Bench& bench, Sandbox& sandbox, std::string& own) {
  const RunResult result = co_await run_in(sandbox, node(bench, kShowMounts));
  const std::string& text = result.out.text;
  const size_t line = text.size() < 2 ? 0 : text.rfind('\n', text.size() - 2) + 1;
  own = text.substr(0, line);
  co_return std::stoul(text.substr(line));
}

Task<> shown_mounts(Bench& bench) {
  if (bench.is_fake() || bench.is_container()) co_return;  // nothing is mounted
  const Packages packages{kFiles};
  const auto sandbox = co_await bench.create();
  std::string own;
  const size_t before = co_await count_mounts(bench, *sandbox, own);
  EXPECT_EQ(own, "");
  for (int i = 0; i < 2; ++i) {
    co_await sandbox->mount_packages(packages.directory);
    EXPECT_EQ(co_await count_mounts(bench, *sandbox, own), before + 1);
    EXPECT_THAT(own, testing::MatchesRegex("/ /workspace/node_modules rw,nosuid,nodev[a-z,]* - "
                                           "overlay packages rw,lowerdir=packages,"
                                           "upperdir=changed,workdir=work,[a-z_,=]*userxattr\n"));
  }
  co_await sandbox->destroy();
}
TEST_P(DriverContract, ShowsPackagesAsOneMountThatTellsNothingOfTheHost) {
  check(shown_mounts);
}

Task<> too_large(Bench& bench) {
  if (bench.is_fake() || bench.is_container()) co_return;  // they are read-only
  const Packages packages{kFiles};
  SandboxSpec spec = bench.spec();
  spec.limits.disk = 16 << 20;
  const auto sandbox = co_await bench.create(std::move(spec));
  co_await sandbox->mount_packages(packages.directory);
  const RunResult result = co_await run_in(*sandbox, node(bench, kFillTheDisk));
  EXPECT_THAT(result.out.text, testing::MatchesRegex("(ENOSPC|EFBIG) 1[56]\n")) << result.err.text;
  co_await sandbox->destroy();
}
TEST_P(DriverContract, BoundsChangesOfPackagesByTheDisk) {
  check(too_large);
}

Task<> place_in_motion(Bench& bench, const Packages& packages) {
  const auto sandbox = co_await bench.create();
  Sink sink;
  const auto process = co_await sandbox->start(node(bench, kSwapThePlace), sink);
  while (sink.out.empty()) co_await sleep_for(milliseconds{1});  // it says when it runs
  for (int i = 0; i < 10; ++i) {
    try {
      co_await sandbox->mount_packages(packages.directory);
    } catch (const Error&) {  // something else was there at that moment
    }
  }
  process->kill(Outcome::Kind::cancelled);
  co_await process->wait();
  Command list;
  list.argv = {"/bin/ls", "-A", "/tmp"};
  const RunResult result = co_await run_in(*sandbox, std::move(list));
  EXPECT_EQ(result.out.text, "") << "nothing is mounted where a link leads";
  co_await sandbox->destroy();
}
Task<> places_in_motion(Bench& bench) {
  if (bench.is_fake()) co_return;
  const Packages packages{kFiles};
  for (int i = 0; i < 8; ++i) co_await place_in_motion(bench, packages);
  EXPECT_TRUE(packages.is_unchanged(bench));
}
TEST_P(DriverContract, MountsNoPackagesWhereALinkLeads) {
  check(places_in_motion);
}

}  // namespace
}  // namespace belljar::contract
