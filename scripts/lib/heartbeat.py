#!/usr/bin/env python3
"""Runs a command, passes its output on, and says how long it has been at work whenever it is silent for eight seconds.

Usage: heartbeat.py [--log FILE] NAME COMMAND...

Ends with the command's exit code, and a line with the time that it took. --log keeps the output in a file, too.
"""

import os
import selectors
import signal
import subprocess
import sys
import time

SILENCE = 8.0  # seconds


def main() -> int:
    arguments = sys.argv[1:]
    log = None
    if arguments[:1] == ["--log"]:
        log = open(arguments[1], "wb")
        arguments = arguments[2:]
    name, command = arguments[0], arguments[1:]
    begun = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: process.send_signal(received))
    output = process.stdout.fileno()
    selector = selectors.DefaultSelector()
    selector.register(output, selectors.EVENT_READ)
    while True:
        if not selector.select(SILENCE):
            print(f"{name}: at work for {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
            continue
        chunk = os.read(output, 1 << 16)
        if not chunk:
            break
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        if log:
            log.write(chunk)
            log.flush()
    code = process.wait()
    print(f"{name}: took {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
