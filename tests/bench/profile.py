"""Where lockstep's time goes: reads what `perf record` has sampled, and prints a table.

A sample in the kernel counts for the system call that it belongs to, any other for its own function; functions of a library without
symbols are one line.

Example: perf record -F 3999 -e cpu-clock -g -o perf.data -- build/tests/benchmark_null_target --rounds 1
         python3 tests/bench/profile.py perf.data
"""

import argparse
import collections
import re
import subprocess

FRAME = re.compile(r"\s*[0-9a-f]+\s+(.*)\s+\((.*)\)$")
CALLS = {"asm_exc_page_fault": "page faults"}
PREFIX = "__x64_sys_"


def frames_of(sample):
    """(symbol, object) of each frame, the innermost first."""
    matches = (FRAME.match(line) for line in sample.splitlines()[1:])
    return [match.groups() for match in matches if match]


def place_of(frames):
    symbol, file = frames[0]
    if not file.startswith("[kernel"):
        return f"{symbol.split('(')[0]} ({file.rpartition('/')[2]})"
    for name, _ in reversed(frames):
        if name.startswith(PREFIX):
            return f"kernel: {name.removeprefix(PREFIX)}"
        if name in CALLS:
            return f"kernel: {CALLS[name]}"
    return "kernel: other"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="what perf record has written")
    parser.add_argument("--lines", type=int, default=12, help="the places that took most (%(default)s)")
    options = parser.parse_args()
    script = ["perf", "script", "-i", options.file, "--comm", "lockstep", "-F", "pid,ip,sym,dso"]
    printed = subprocess.run(script, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             errors="replace").stdout
    places = collections.Counter(place_of(frames) for frames in map(frames_of, printed.split("\n\n")) if frames)
    samples = places.total()
    if not samples:
        parser.error(f"{options.file} has no sample of lockstep")
    print(f"| {samples:,} samples | share |")
    print("|---|---|")
    for place, count in places.most_common(options.lines):
        print(f"| `{place}` | {100 * count / samples:.1f}% |")


if __name__ == "__main__":
    main()
