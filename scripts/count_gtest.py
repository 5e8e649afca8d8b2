#!/usr/bin/env python3
"""Prints "PASSED FAILED SKIPPED" of a directory of GoogleTest JSON reports and ctest's own report.

A test program that crashed or hung has left no JSON report; it counts as one failure.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree


def main():
    directory, status = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    passed = failed = skipped = failed_programs = 0
    for file in directory.glob("*.json"):
        before = failed
        for suite in json.loads(file.read_text()).get("testsuites", []):
            for test in suite.get("testsuite", []):
                if test.get("failures"):
                    failed += 1
                elif test.get("result") == "SKIPPED" or test.get("status") == "NOTRUN":
                    skipped += 1
                else:
                    passed += 1
        failed_programs += failed > before
    report = directory / "ctest.xml"
    if report.exists():
        root = xml.etree.ElementTree.parse(report).getroot()
        failed += max(0, len(root.findall(".//testcase/failure")) - failed_programs)
    if status != 0 and failed == 0:
        failed = 1
    print(passed, failed, skipped)


if __name__ == "__main__":
    main()
