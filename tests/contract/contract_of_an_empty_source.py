"""Runs the contract of a source over an empty source, which has to fail nearly all of it.

    contract_of_an_empty_source.py PROGRAM

A test that it passes proves nothing about a source; these are printed. Exit code 1 when they are more than a tenth,
or when the program did not come to the end of its tests."""
import json
import os
import subprocess
import sys
import tempfile

FAILING_SHARE = 0.9


def results_of(program):
    """By test: whether it has failed."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "results.json")
        run = subprocess.run([program, "--gtest_output=json:" + output], capture_output=True, text=True, check=False)
        if not os.path.exists(output):
            sys.exit(f"{program} has ended with {run.returncode} before its last test:\n{run.stdout[-2000:]}")
        with open(output, encoding="utf-8") as text:
            suites = json.load(text)["testsuites"]
    return {f"{suite['name']}.{test['name']}": "failures" in test for suite in suites for test in suite["testsuite"]}


def main():
    results = results_of(sys.argv[1])
    if not results:
        sys.exit("there are no tests")
    for name in sorted(name for name, failed in results.items() if not failed):
        print(f"passed by an empty source: {name}")
    failed = sum(results.values())
    print(f"an empty source fails {failed} of {len(results)} tests ({failed / len(results):.0%})")
    if failed < FAILING_SHARE * len(results):
        sys.exit(f"these are less than {FAILING_SHARE:.0%}: assert what a source has to do, too")


if __name__ == "__main__":
    main()
