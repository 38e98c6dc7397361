#!/usr/bin/env python3
"""Judges what scripts/benchmark --compare has measured: is one version of lockstep slower than another, beyond noise?

A folder has the results of one benchmark, before-1.json, after-1.json, before-2.json, …: one file a run, both versions in alternation.
Of each run counts the median of a measure, of what is counted (statements, requests, bytes) the least: timers that run meanwhile only
add to it. Then a measure is

  a regression   the two ranges have no value in common, and it is worse: what is counted, if the least has grown by more than 1 %;
                 what is timed (all else), if the median is worse by more than 5 %
  better         the same, the other way
  unsteady       a control, a measure in which lockstep has no part, whose ranges have no value in common and whose medians differ by
                 more than 5 %, either way: then the machine has changed meanwhile, and nothing else here means anything
  not judged     a ratio without a target: nobody has said which way is better

The exit code is 1 when there is a regression, or anything unsteady.

Example: tests/bench/compare.py --before v1.2 build/benchmarks/compare/drain
"""
import argparse
import json
import pathlib
import re
import statistics
import sys

from record import number

COUNTED = {"statements", "round trips", "requests", "bytes"}
LESS_IS_BETTER = COUNTED | {"s", "ms", "µs", "MiB", "% of a core", "a second"}
NEITHER_IS_BETTER = {"", "bulks", "changes", "commits", "times"}
COUNTED_GROWTH = 0.01
TIMED_CHANGE = 0.05
BAD = ("regression", "unsteady")


class Unusable(Exception):
    """Results that cannot be compared."""


def more_is_better(measure):
    """Whether a greater value is better; None when nobody has said so. Raises Unusable for a unit that is not known here."""
    if "target" in measure:
        return measure["target"]["bound"] == "at least"
    unit = measure["unit"]
    if unit.endswith("/s"):
        return True
    if unit in LESS_IS_BETTER:
        return False
    if unit in NEITHER_IS_BETTER:
        return None
    raise Unusable(f'"{measure["name"]}" has the unit "{unit}"; say in tests/bench/compare.py which way is better')


def typical(measure):
    """What stands for several values of a measure."""
    return min if measure["unit"] in COUNTED else statistics.median


def judge(measure, before, after):
    """The verdict on one measure, from the values of each run of both versions."""
    middle = typical(measure)
    old, new = middle(before), middle(after)
    change = round(new / old - 1, 6) if old else (0.0 if new == old else float("inf"))
    apart = max(before) < min(after) or max(after) < min(before)
    differs = apart and abs(change) > TIMED_CHANGE
    if measure.get("control"):
        return "unsteady" if differs else "control"
    more = more_is_better(measure)
    if more is None:
        return "not judged"
    if measure["unit"] in COUNTED:
        differs = apart and abs(change) > COUNTED_GROWTH
    if not differs:
        return "same"
    return "better" if (change > 0) == more else "regression"


def runs_of(folder, side):
    """The results of one version, in the order of the runs."""
    files = sorted(folder.glob(f"{side}-*.json"), key=lambda file: int(re.search(r"(\d+)\.json$", file.name)[1]))
    if not files:
        raise Unusable(f"{folder} has no {side}-*.json")
    return [json.loads(file.read_text()) for file in files]


def measures_of(runs):
    """{name: (measure, [what stands for each run])}. Raises Unusable when one run has measured something else than the others."""
    found = {}
    for run in runs:
        for measure in run["measures"]:
            found.setdefault(measure["name"], (measure, []))[1].append(typical(measure)(measure["values"]))
    for name, (_, values) in found.items():
        if len(values) != len(runs):
            raise Unusable(f'"{name}" was measured in {len(values)} of {len(runs)} runs')
    return found


def compare(folder):
    """Yields (measure, before, after, verdict) for what both versions have measured, the values being those of each run."""
    before, after = measures_of(runs_of(folder, "before")), measures_of(runs_of(folder, "after"))
    for name, (measure, values) in after.items():
        if name not in before:
            yield measure, [], values, "only after"
        else:
            old = before[name][1]
            if len(old) != len(values):
                raise Unusable(f"{folder} has {len(old)} runs before and {len(values)} after")
            yield measure, old, values, judge(measure, old, values)
    for name, (measure, values) in before.items():
        if name not in after:
            yield measure, values, [], "only before"


def spread(measure, values):
    if not values:
        return ""
    low, high = number(min(values)), number(max(values))
    return number(typical(measure)(values)) + (f" ({low}–{high})" if low != high else "")


def table(name, rows, before_name):
    lines = [f"| {name} | {before_name} | working copy | ratio | |", "|---|---|---|---|---|"]
    for measure, before, after, verdict in rows:
        old, new = (typical(measure)(values) if values else 0 for values in (before, after))
        ratio = f"{new / old:.3f}" if old and after else ""
        unit = f", {measure['unit']}" if measure["unit"] else ""
        said = f"**{verdict}**" if verdict in BAD else "" if verdict == "same" else verdict
        lines.append(f"| {measure['name']}{unit} | {spread(measure, before)} | {spread(measure, after)} | {ratio} | {said} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", default="before", metavar="NAME", help="what the table calls the version that was there before")
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER", help="the results of one benchmark")
    options = parser.parse_args()
    bad = []
    try:
        for folder in options.folders:
            rows = list(compare(folder))
            print(table(folder.name, rows, options.before) + "\n")
            bad += [f"{verdict}: {folder.name}, {measure['name']}" for measure, _, _, verdict in rows if verdict in BAD]
    except Unusable as reason:
        print(f"compare: {reason}", file=sys.stderr)
        return 1
    for line in bad or ["no regression beyond noise"]:
        print(line)
    if any(line.startswith("unsteady") for line in bad):
        print("the machine was not steady: run it again, with nothing beside it or with more --rounds")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
