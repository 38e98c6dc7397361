#!/usr/bin/env python3
"""Puts recorded results into the documentation: docs/benchmarks/NAME.json becomes the chart docs/benchmarks/NAME.svg and the
table between "<!-- results: NAME -->" and "<!-- end -->" in docs/benchmarks.md, or, of locks, in docs/locks.md. Results of several
tools (peers.json) become a table with a column for each in docs/comparison.md, without a chart, and one of each tool beside
Lockstep in the page about coming from it; the costs of
docs/benchmarks/scale_costs.json become the tables of docs/scale.md in the same way (scale_model.py). SUMMARY is one table of many.

Usage: tests/bench/record.py [--check | --print FILE]

--check changes nothing, and fails when something would change; --print prints the table of one result and changes nothing.
"""
import json
import pathlib
import re
import statistics
import sys
import textwrap
from html import escape

import scale_model

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
RESULTS = DOCS / "benchmarks"
# The rows of the table above all others: what, where more is said, the result, its measure.
SUMMARY = [
    ("a backlog of single-row updates, of what ready-made bulks reach", "#draining-single-row-updates",
     "drain", "backlog drained / ceiling"),
    ("filling an index, of what ready-made bulks reach", "#backfill", "backfill", "share of the ceiling"),
    ("a fan-out to 10,000 documents, a ready-made bulk is 1", "#fan-out", "fan_out", "rename / ready-made bulk"),
    ("commit to GET, p50, a bare bulk of one document is 1", "#latency",
     "latency", "commit to GET / a bare bulk of one document to GET, p50"),
    ("the same, p99", "#latency", "latency", "commit to GET / a bare bulk of one document to GET, p99"),
    ("a small change beside a directory of 300,000 files, p99", "#a-large-rename-beside-small-changes",
     "rename", "small change during the rename, p99"),
    ("the speed of that rename, undisturbed it is 1", "#a-large-rename-beside-small-changes",
     "rename", "speed of the rename, disturbed / undisturbed"),
    ("a small change beside one large statement, p99", "#a-large-transaction-beside-small-changes",
     "large_transaction", "small change beside one statement, p99"),
    ("the same, the longest", "#a-large-transaction-beside-small-changes",
     "large_transaction", "small change beside one statement, largest"),
    ("`verify` of a million equal documents", "#verify", "verify", "verify"),
    ("six clients at one lock, one client is 1", "locks.md#what-it-costs", "locks", "Elasticsearch: the global lock, six clients of one client"),
    ("nothing to do, lockstep and PostgreSQL together", "#idle", "idle", "together, later"),
    ("memory of a backfill of a million documents", "#memory", "memory", "a backfill"),
]
PAGES = {"locks": "locks.md", "tree_move": "locks.md", "peers": "comparison.md"}
COMING_FROM = {"Debezium": "coming-from-debezium.md", "PGSync": "coming-from-pgsync.md"}


def number(value):
    """As few digits as say something."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}".rstrip("0").rstrip(".")


def distance(share):
    return f"{abs(share):.0%}" if abs(share) >= 0.01 else f"{abs(share):.1%}"


def verdict(measure):
    """The target and how far the median is from it; empty without a target."""
    if "target" not in measure:
        return ""
    median, bound, target = statistics.median(measure["values"]), measure["target"]["bound"], measure["target"]["value"]
    met = median >= target if bound == "at least" else median <= target
    return f"{bound} {number(target)}: " + ("met" if met else f"**missed by {distance(median / target - 1)}**")


def caption(result):
    on = result["on"]
    parameters = ", ".join(f"{name}~{value:,}" for name, value in sorted(result["parameters"].items()))
    load = f", load {on['load_before']:.1f} before it began" if "load_before" in on else ""
    text = (f"{result['date']}: {on['cores']} cores, {on['memory_gib']:.0f} GiB{load}; "
            f"{on['elasticsearch'] or 'Elasticsearch'}, PostgreSQL {on['postgresql']}; {parameters}.")
    # A name and its value stay on one line.
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False).replace("~", " ")


def spread(values):
    """The range; empty when there is none."""
    return f"{number(min(values))}–{number(max(values))}" if len(values) > 1 else ""


def tools_table(result):
    """A row for each measure, a column for each tool: the median, and the range behind it."""
    lines = [caption(result), "", "| | " + " | ".join(result["columns"]) + " |", "|---" * (len(result["columns"]) + 1) + "|"]
    for row in result["rows"]:
        cells = [row["name"] + (f", {row['unit']}" if row["unit"] else "")]
        for values in (row["values"].get(column, []) for column in result["columns"]):
            within = f" ({spread(values)})" if len(set(values)) > 1 else ""
            cells.append(number(statistics.median(values)) + within if values else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def beside_lockstep(result, tool):
    """What both were measured for, and what one of them alone was."""
    rows = [row for row in result["rows"] if row["values"].get(tool)]
    return tools_table({**result, "columns": [tool, "Lockstep"], "rows": rows})


def ratios_first(result):
    """They say more than rates, which are those of a machine."""
    return sorted(result["measures"], key=lambda measure: measure["unit"] != "")


def table(result):
    if "columns" in result:
        return tools_table(result)
    lines = [caption(result), "", "| | median | range | target |", "|---|---|---|---|"]
    for measure in ratios_first(result):
        values, unit = measure["values"], (" " + measure["unit"]) if measure["unit"] else ""
        lines.append(f"| {measure['name']} | {number(statistics.median(values))}{unit} | {spread(values)} | {verdict(measure)} |")
    lines += ["", f"![{result['benchmark']}](benchmarks/{result['benchmark']}.svg)"]
    return "\n".join(lines)


def summary(results):
    """A row for each promise, with the verdict."""
    lines = ["| what | median | range | target |", "|---|---|---|---|"]
    for what, where, name, measure_name in SUMMARY:
        measure = next((measure for measure in results[name]["measures"] if measure["name"] == measure_name), None)
        if measure is None:
            raise SystemExit(f'docs/benchmarks/{name}.json has no measure "{measure_name}": record it with scripts/benchmark {name} --record')
        values, unit = measure["values"], (" " + measure["unit"]) if measure["unit"] else ""
        lines.append(f"| [{what}]({where}) | {number(statistics.median(values))}{unit} | {spread(values)} | {verdict(measure)} |")
    return "\n".join(lines)


def chart(result):
    """A panel for each unit, a bar for each measure: the median, a line over the range, a mark at the target."""
    left, width, row, parts, y = 430, 340, 22, [], 12
    for unit in dict.fromkeys(measure["unit"] for measure in ratios_first(result)):
        measures = [measure for measure in result["measures"] if measure["unit"] == unit]
        largest = max(max(m["values"] + [m.get("target", {}).get("value", 0)]) for m in measures) or 1
        parts.append(f'<text x="{left}" y="{y + 12}" class="unit">{unit or "ratio"}</text>')
        y += row
        for measure in measures:
            low, median, high = (left + width * f(measure["values"]) / largest for f in (min, statistics.median, max))
            middle = y + row / 2
            parts.append(f'<text x="{left - 8}" y="{middle + 4}" text-anchor="end">{escape(measure["name"])}</text>'
                         f'<rect x="{left}" y="{y + 4}" width="{max(median - left, 1):.1f}" height="{row - 8}" class="bar"/>'
                         f'<path d="M{low:.1f} {middle}H{high:.1f}" class="range"/>')
            if "target" in measure:
                target = left + width * measure["target"]["value"] / largest
                parts.append(f'<path d="M{target:.1f} {y + 1}v{row - 2}" class="target"/>')
            label = number(statistics.median(measure["values"]))
            parts.append(f'<text x="{max(high, median) + 6:.1f}" y="{middle + 4}">{label}</text>')
            y += row
        y += row / 2
    style = ("text{font:12px sans-serif;fill:#333}.unit{font-weight:bold}.bar{fill:#5b8db8}.range{stroke:#1d3d5c;stroke-width:2}"
             ".target{stroke:#c0392b;stroke-width:2;stroke-dasharray:3 2}rect.page{fill:#fff}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="860" height="{y:.0f}" viewBox="0 0 860 {y:.0f}">\n'
            f'<style>{style}</style><rect class="page" width="860" height="{y:.0f}"/>\n' + "\n".join(parts) + "\n</svg>\n")


def filled(text, name, content):
    """`text` with `content` between the marks of `name`."""
    pattern = re.compile(rf"(<!-- results: {name} -->\n).*?(<!-- end -->)", re.S)
    if len(pattern.findall(text)) != 1:
        raise SystemExit(f'the documentation needs exactly one "<!-- results: {name} -->" with an "<!-- end -->"')
    return pattern.sub(lambda match: match[1] + content + "\n" + match[2], text)


def main():
    if sys.argv[1:2] == ["--print"]:
        print(table(json.loads(pathlib.Path(sys.argv[2]).read_text())))
        return 0
    pages = {DOCS / name: (DOCS / name).read_text() for name in ("benchmarks.md", "comparison.md", "locks.md", "scale.md", *COMING_FROM.values())}
    files = dict(pages)
    results = {}
    for path in sorted(RESULTS.glob("*.json")):
        if path.name == "scale_costs.json":
            continue
        result = results[path.stem] = json.loads(path.read_text())
        page = DOCS / PAGES.get(result["benchmark"], "benchmarks.md")
        files[page] = filled(files[page], result["benchmark"], table(result))
        if "measures" in result:
            files[path.with_suffix(".svg")] = chart(result)
    for tool, name in COMING_FROM.items():
        files[DOCS / name] = filled(files[DOCS / name], f"peers, {tool}", beside_lockstep(results["peers"], tool))
    files[DOCS / "benchmarks.md"] = filled(files[DOCS / "benchmarks.md"], "summary", summary(results))
    for name, content in scale_model.tables(json.loads((RESULTS / "scale_costs.json").read_text())).items():
        files[DOCS / "scale.md"] = filled(files[DOCS / "scale.md"], name, content)
    changed = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if sys.argv[1:] == ["--check"]:
        for path in changed:
            print(f"{path} is not what the recorded results give; run tests/bench/record.py", file=sys.stderr)
        return 1 if changed else 0
    for path in changed:
        path.write_text(files[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
