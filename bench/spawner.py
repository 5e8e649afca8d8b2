#!/usr/bin/env python3
"""Starts a program as cheaply as can be and says how long it took: one JSON list of arguments per line of input, one
number of milliseconds (until its output has ended and it was reaped) per line of output."""
import json
import os
import sys
import time

for line in sys.stdin:
    argv = json.loads(line)
    started = time.perf_counter()
    read, write = os.pipe()
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)])
    os.close(write)
    output = b""
    while chunk := os.read(read, 65536):
        output += chunk
    os.close(read)
    _, status = os.waitpid(pid, 0)
    took = (time.perf_counter() - started) * 1000
    print(took if status == 0 and output == b"hello\n" else "failed", flush=True)
