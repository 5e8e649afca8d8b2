#!/usr/bin/env python3
"""Checks that need no compiler: text.py CHECK, where CHECK is one of the functions below."""
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Files that may be longer than the limit, each with the reason. Keep it short.
LONG_FILES = {
    "src/sandbox/seccomp_policy.h": "a table, one system call per line",
}
LIMITS = {".cc": 400, ".h": 150}


def tracked(*suffixes):
    """Every file of the project that git knows or would add."""
    listing = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                             capture_output=True, text=True, check=True).stdout
    for name in listing.splitlines():
        file = ROOT / name
        if file.is_file() and (not suffixes or file.suffix in suffixes):
            yield name, file


def grep(pattern, *suffixes, under="", message, comments=True):
    for name, file in tracked(*suffixes):
        if not name.startswith(under) or name == "tests/style/text.py":
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            if re.search(pattern, line if comments else line.split("//")[0]):
                yield f"{name}:{number}: {message}"


def sizes():
    """A file is read in one sitting: 400 lines for .cc, 150 for .h."""
    for name, file in tracked(*LIMITS):
        lines = len(file.read_text().splitlines())
        limit = LIMITS[file.suffix]
        if name.startswith("src/") and not name.endswith("_test.cc") and lines > limit and name not in LONG_FILES:
            yield f"{name}: {lines} lines, {limit} is the limit"


def detached():
    """Background work belongs to a TaskGroup, which somebody waits for."""
    return grep(r"\basio::detached\b|,\s*detached\)", ".cc", ".h", under="src/", comments=False,
                message="no detached: use a TaskGroup")


def mutexes():
    """One thread owns every object, so there is nothing to lock. A server that a test talks to has its own thread, and V8
    asks for some."""
    found = grep(r"std::(mutex|shared_mutex|recursive_mutex|condition_variable)\b", ".cc", ".h", under="src/",
                 message="no mutexes in src/: one event loop owns every object")
    allowed = ("src/net/test_server.", "src/drivers/docker/testing.", "src/drivers/linux/zygote/worker_tasks.")
    return (problem for problem in found if not problem.startswith(allowed))


def todos():
    """A TODO says what kind it is."""
    return grep(r"\b(TODO|FIXME|XXX|HACK)\b(?!\((security|perf|cleanup)\): )", ".cc", ".h", ".py", ".mjs", ".sh",
                message="write TODO(security|perf|cleanup): …")


def whitespace():
    """No tabs in source, no space at the end of a line, a newline at the end of the file."""
    for name, file in tracked(".cc", ".h", ".py", ".mjs", ".js", ".md", ".json", ".cmake", ".sh", ".txt"):
        text = file.read_text(errors="replace")
        if text and not text.endswith("\n"):
            yield f"{name}: no newline at the end"
        for number, line in enumerate(text.splitlines(), 1):
            if line != line.rstrip() or ("\t" in line and name.startswith("src/")):
                yield f"{name}:{number}: tab or space at the end of the line"


def registry():
    """The registry of whoever built or tested belljar is nobody's business; the lock file has no hosts."""
    yield from grep(r'"resolved": "https?:', ".json", under="tests/e2e/package-lock.json",
                    message="has a registry address: npm config set omit-lockfile-registry-resolved true")
    try:
        done = subprocess.run(["npm", "config", "get", "registry"], cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        return
    host = urllib.parse.urlsplit(done.stdout.strip()).hostname
    if host and host != "registry.npmjs.org":
        yield from grep(re.escape(host), message="names the registry of this machine")


def architecture():
    """ARCHITECTURE.md is read by everybody, so it stays short."""
    lines = len((ROOT / "ARCHITECTURE.md").read_text().splitlines())
    if lines > 150:
        yield f"ARCHITECTURE.md: {lines} lines, 150 is the limit"


def links():
    """Relative links of the documents lead somewhere."""
    for name, file in tracked(".md"):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", file.read_text()):
            if "://" not in target and not target.startswith("mailto:") and not (file.parent / target).exists():
                yield f"{name}: broken link {target}"


CHECKS = [sizes, detached, mutexes, todos, whitespace, registry, architecture, links]


def main():
    for check in CHECKS:
        if check.__name__ == sys.argv[1]:
            problems = list(check())
            print("\n".join(problems), end="\n" if problems else "")
            return 1 if problems else 0
    sys.exit(f"no such check: {sys.argv[1]}")


if __name__ == "__main__":
    sys.exit(main())
