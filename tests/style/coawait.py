#!/usr/bin/env python3
"""g++ 12 miscompiles lambdas and braced lists inside the operand of co_await (docs/common_mistakes.md, 1).

A lambda or a list shows as a bracket in the text of the operand. Files without one are fine; about the others, where
the bracket may be harmless (an index, say), clang-query is asked. A file that passed is asked about again only
when it or its compile command has changed.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUERY = ("m coawaitExpr(isExpansionInMainFile(),"
         " anyOf(hasDescendant(lambdaExpr()), hasDescendant(initListExpr())))")
CLANG_QUERY = "clang-query-19"


def suspicious(text):
    """Is there a bracket of a lambda or a list in the operand of a co_await?"""
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.S)
    for start in re.finditer(r"\bco_await\b", text):
        depth = 0
        for char in text[start.end():]:
            if char in "{[":
                return True
            depth += (char == "(") - (char == ")")
            if depth < 0 or (depth == 0 and char in ";}"):
                break
    return False


def ask(build, entry, passed):
    file = pathlib.Path(entry["file"])
    key = hashlib.sha256((entry["command"] + QUERY).encode() + file.read_bytes()).hexdigest()
    stamp = passed / key
    if stamp.exists():
        return None
    done = subprocess.run([CLANG_QUERY, "-p", str(build), "-c", "set output diag", "-c", QUERY, str(file)],
                          capture_output=True, text=True)
    text = done.stdout + done.stderr
    count = re.search(r"^(\d+) match(es)?\.", done.stdout, re.M)
    if done.returncode == 0 and count and count.group(1) == "0" and "error:" not in done.stderr:
        stamp.touch()
        return None
    if count and count.group(1) != "0":
        places = re.findall(r"^(\S+:\d+:\d+): note: \"root\"", done.stdout, re.M)
        return "\n".join(f"{place}: lambda or braced list inside co_await: name it first" for place in places) or text
    errors = [line for line in text.splitlines() if "error:" in line][:5]
    return f"{file}: {CLANG_QUERY} failed\n" + "\n".join(errors)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release")
    commands = build / "compile_commands.json"
    if not commands.exists():
        print(f"{commands} is missing: run cmake --preset {build.name}")
        return 1
    passed = build / "coawait-passed"
    passed.mkdir(exist_ok=True)
    entries = {entry["file"]: entry for entry in json.loads(commands.read_text())}
    entries = [entry for file, entry in sorted(entries.items())
               if os.path.exists(file) and suspicious(pathlib.Path(file).read_text())]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        problems = [text for text in pool.map(lambda entry: ask(build, entry, passed), entries) if text]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
