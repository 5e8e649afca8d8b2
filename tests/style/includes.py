#!/usr/bin/env python3
"""Checks that the folders of src/ include only what the table in ARCHITECTURE.md allows them.

The table stands between the lines `<!-- include-table -->` and `<!-- /include-table -->`; its first column
names folders, its second what they may include. The launcher's row lists files, not folders.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
LAUNCHER = "drivers/linux/launcher"
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^">]+)[">]', re.M)
# What the privileged program may use of the world: libc, the kernel, libseccomp and a few plain headers of
# the standard library. No threads, streams, exceptions of its own, no Boost.
LAUNCHER_SYSTEM = re.compile(
    r"^(seccomp\.h|sched\.h|poll\.h|fcntl\.h|unistd\.h|signal\.h|errno\.h|dirent\.h|pthread\.h|grp\.h|"
    r"(sys|linux|asm|net|netinet|arpa)/[\w/]+\.h|std\w+\.h|string\.h|limits\.h|time\.h|c[a-z]+|"
    r"array|vector|string|memory|map|set|algorithm|string_view|span|utility|iterator|optional|bit|type_traits|limits|initializer_list|tuple|new)$")
BEAST_ONLY_IN = re.compile(r"^net/[\w]+\.cc$")


def read_table():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    part = re.search(r"<!-- include-table -->(.*?)<!-- /include-table -->", text, re.S)
    if not part:
        sys.exit("ARCHITECTURE.md has no include table")
    allowed = {}
    for line in part.group(1).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 2 or set(cells[0]) <= {"-", " "} or cells[0] == "folder":
            continue
        targets = re.findall(r"`([\w/.]+)`", cells[1]) + (["*"] if cells[1].startswith("everything") else [])
        for folder in re.findall(r"`([\w/]+)`", cells[0]):
            allowed[folder] = targets
    return allowed


def folder_of(path, folders):
    """The most exact row for a path: drivers/linux/launcher before drivers/linux."""
    matches = [folder for folder in folders if path == folder or path.startswith(folder + "/")]
    return max(matches, key=len, default=None)


def main():
    allowed = read_table()
    problems = []
    for file in sorted(SRC.rglob("*")):
        if file.suffix not in (".h", ".cc", ".c"):
            continue
        name = file.relative_to(SRC).as_posix()
        folder = folder_of(name, allowed)
        if folder is None:
            problems.append(f"src/{name}: its folder has no row in ARCHITECTURE.md")
            continue
        test = name.endswith(("_test.cc", "/testing.h", "/testing.cc"))
        for kind, target in INCLUDE.findall(file.read_text()):
            if kind == "<" and not (SRC / target).exists():
                if target.startswith("boost/beast") and not BEAST_ONLY_IN.match(name):
                    problems.append(f"src/{name}: includes <{target}>, but only net/*.cc may use Beast")
                if folder == LAUNCHER and not test and not LAUNCHER_SYSTEM.match(target):
                    problems.append(f"src/{name}: the launcher may not use <{target}>")
                continue
            if (file.parent / target).exists() and "/" not in target:
                continue  # a neighbour by its short name
            if target.endswith((".inc", "_generated.h")):
                continue
            to = folder_of(target, allowed)
            ok = to == folder or "*" in allowed[folder] or to in allowed[folder] or target in allowed[folder]
            # The tests of a module may use the in-memory driver and other modules' helpers for tests.
            ok = ok or (test and (to == "drivers/fake" or re.search(r"/test_\w+\.h$", target)))
            if not ok:
                may = ", ".join(allowed[folder]) or "nothing of ours"
                problems.append(f'src/{name}: includes "{target}", but {folder} may include only: {may}')
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
