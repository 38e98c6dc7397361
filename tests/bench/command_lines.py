"""Whether each benchmark answers --help, and names an option that is wrong: command_lines.py PROGRAM…

Exit code 1 when one does not.
"""

import os
import subprocess
import sys

WRONG_USAGE = 2


def run(program, *options):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LOCKSTEP_TEST_")}
    return subprocess.run([program, *options], capture_output=True, text=True, timeout=60, check=False, env=environment)


def faults_of(program):
    helped = run(program, "--help")
    if helped.returncode != 0 or "--quick" not in helped.stdout:
        yield f"--help: exit code {helped.returncode}, {helped.stdout!r}"
    wrong = [("--no-such-option", "3"), ("surplus",)]
    if "--rounds" in helped.stdout:
        wrong += [("--rounds", value) for value in ("0", "-1", "x", "1.5")]
    for options in wrong:
        answer = run(program, *options)
        named = options[-1] if options[0] == "--rounds" else options[0]
        if answer.returncode != WRONG_USAGE or named not in answer.stderr:
            yield f"{' '.join(options)}: exit code {answer.returncode}, {answer.stderr!r}"


def main(programs):
    if not programs:
        print(__doc__, file=sys.stderr)
        return WRONG_USAGE
    faults = [f"{os.path.basename(program)} {fault}" for program in programs for fault in faults_of(program)]
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
