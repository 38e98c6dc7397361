#!/usr/bin/env python3
"""Puts the recorded results, tests/bench/records/NAME.json, into the documentation: what is between "<!-- results: NAME -->" and
"<!-- end -->" on a page of docs/ becomes the table of NAME, and each chart docs/benchmarks/NAME.svg that a page shows is drawn anew.
The records themselves get a list of numbers on one line.

NAME is that of a result, of a table in CHOSEN (a few measures of several results), or of a table of scale_model.py.

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

BENCH = pathlib.Path(__file__).resolve().parent
DOCS = BENCH.parents[1] / "docs"
RESULTS = BENCH / "records"
CHARTS = DOCS / "benchmarks"
DETAILS = "../tests/bench/README.md#"
# Tables of several results. A row: what it is, the section of DETAILS or the page that has more, the result, its measure.
CHOSEN = {
    "summary": [
        ("filling an index", "backfill", "backfill", "backfill"),
        ("the same / ready bulks", "backfill", "backfill", "share of the ceiling"),
        ("a backlog of single-row updates", "drain", "drain", "backlog drained"),
        ("the same / ready bulks", "drain", "drain", "backlog drained / ceiling"),
        ("the same / ready bulks while PostgreSQL renders as many documents", "drain",
         "drain", "backlog drained / ready bulks while PostgreSQL renders as many documents"),
        ("a rename that changes 10,000 documents / a ready bulk of them", "fan_out", "fan_out", "rename / ready-made bulk"),
        ("`verify` of a million equal documents", "verify", "verify", "verify"),
    ],
    "latencies": [
        ("nothing else going on, p50", "latency", "latency", "commit to GET, nothing else going on, p50"),
        ("the same / a bare bulk of one document", "latency", "latency", "commit to GET / a bare bulk of one document to GET, p50"),
        ("nothing else going on, p99", "latency", "latency", "commit to GET, nothing else going on, p99"),
        ("the same / a bare bulk of one document", "latency", "latency", "commit to GET / a bare bulk of one document to GET, p99"),
        ("two writers at full speed, p99", "latency", "latency", "commit to GET, two writers at full speed, p99"),
        ("rename of a directory of 300,000 files, p99", "rename", "rename", "small change during the rename, p99"),
        ("one statement over 1,000,000 rows, p99", "large_transaction", "large_transaction", "small change beside one statement, p99"),
        ("the same, largest", "large_transaction", "large_transaction", "small change beside one statement, largest"),
        ("a reindex of 1,000,000 documents, p99", "reindex", "reindex", "small change beside a reindex, p99"),
        ("more changes than Elasticsearch takes, p99", "overload", "overload", "small change of a document of its own, p99"),
        ("the same, with searchers and a reindex, p99", "overload",
         "overload", "small change of a document of its own, searchers and a reindex, p99"),
        ("a SQLite file, nothing else going on, p50", "sqlite_following", "sqlite_following", "commit to GET, p50"),
    ],
    "costs": [
        ("memory: a backfill of a million documents", "memory", "memory", "a backfill"),
        ("memory: documents of 5 MB that all differ, compared", "memory",
         "memory", "a comparison of large documents that all differ"),
        ("CPU of Lockstep: a backlog of 50,000 updates", "drain", "drain", "backlog: CPU of lockstep for 50,000 changes"),
        ("CPU at rest, Lockstep and PostgreSQL", "idle", "idle", "together, later"),
        ("one change among 10,000 documents, p50", "growth-and-age", "growth", "one change, 10000 documents, p50"),
        ("one change among 1,000,000 documents, p50", "growth-and-age", "growth", "one change, 1000000 documents, p50"),
        ("one change, young outbox, p50", "growth-and-age", "age", "one change, young outbox, p50"),
        ("one change, 10,000,000 consumed rows in the outbox, p50", "growth-and-age",
         "age", "one change, 10000000 consumed rows in the outbox, p50"),
        ("overload: last commit to equality, less 1 s / ready bulk", "overload",
         "overload", "last commit to equality, less 1 s / ready bulk"),
        ("overload: reindex under load / without", "overload", "overload", "reindex under load / without"),
    ],
    "lock costs": [
        ("Elasticsearch: one lock, whole operation", None, "locks", "Elasticsearch: operation with journal, 1 document"),
        ("Elasticsearch: 2,000 document locks, whole operation", None, "locks", "Elasticsearch: operation with journal, 2,000 documents"),
        ("Elasticsearch: tree lock, whole operation", None, "locks", "Elasticsearch: operation with journal, rename of a file four deep"),
        ("Elasticsearch: the global lock, six clients / one", None, "locks", "Elasticsearch: the global lock, six clients of one client"),
        ("PostgreSQL: one lock, whole operation", None, "locks", "PostgreSQL: operation with journal, 1 document"),
        ("PostgreSQL: 2,000 document locks, whole operation", None, "locks", "PostgreSQL: operation with journal, 2,000 documents"),
        ("PostgreSQL: the global lock, six clients / one", None, "locks", "PostgreSQL: the global lock, six clients of one client"),
        ("`tree mv` of 100,000 files / a bare `_update_by_query`", None, "tree_move", "tree mv, of what the bare one takes"),
    ],
}


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
    return "\n".join(lines)


def span(values):
    """The one value, or the least and the greatest."""
    return " to ".join(dict.fromkeys((min(values), max(values))))


def chosen_table(rows, results):
    """Measures of several results, each with the verdict."""
    used = [results[name] for name in dict.fromkeys(name for _, _, name, _ in rows)]
    on = used[0]["on"]
    caption = (f"Recorded {span([result['date'] for result in used])}: {on['cores']} cores, {on['memory_gib']:.0f} GiB; "
               f"{span([result['on']['elasticsearch'] for result in used])}, PostgreSQL {span([result['on']['postgresql'] for result in used])}.")
    lines = [textwrap.fill(caption, 120), "", "| | median | range | target |", "|---|---|---|---|"]
    for what, where, name, measure_name in rows:
        measure = next((measure for measure in results[name]["measures"] if measure["name"] == measure_name), None)
        if measure is None:
            raise SystemExit(f'tests/bench/records/{name}.json has no measure "{measure_name}": '
                             f"record it with scripts/benchmark {name} --record")
        values, unit = measure["values"], (" " + measure["unit"]) if measure["unit"] else ""
        text = f"[{what}]({DETAILS}{where})" if where else what
        lines.append(f"| {text} | {number(statistics.median(values))}{unit} | {spread(values)} | {verdict(measure)} |")
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


def short(result):
    """As JSON with a list of numbers on one line."""
    return re.sub(r"\[[^\[\]{}\"]*\]", lambda values: re.sub(r"\s+", " ", values[0]).replace("[ ", "[").replace(" ]", "]"),
                  json.dumps(result, indent=2, ensure_ascii=False)) + "\n"


def filled(text, contents):
    """`text` with the tables of `contents` between their marks."""
    def content(match):
        if match[2] not in contents:
            raise SystemExit(f'"<!-- results: {match[2]} -->": there is no such result')
        return match[1] + contents[match[2]] + "\n<!-- end -->"
    found = re.sub(r"(<!-- results: ([^>]+) -->\n).*?<!-- end -->", content, text, flags=re.S)
    if found.count("<!-- results: ") != found.count("<!-- end -->"):
        raise SystemExit('each "<!-- results: NAME -->" needs an "<!-- end -->"')
    return found


def main():
    if sys.argv[1:2] == ["--print"]:
        print(table(json.loads(pathlib.Path(sys.argv[2]).read_text())))
        return 0
    results = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    records = {RESULTS / f"{name}.json": short(result) for name, result in results.items()}
    contents = {name: table(result) for name, result in results.items()}
    contents |= {name: chosen_table(rows, results) for name, rows in CHOSEN.items()}
    contents |= scale_model.tables(json.loads(scale_model.COSTS.read_text()))
    files = {page: filled(page.read_text(), contents) for page in sorted(DOCS.glob("*.md"))}
    shown = {name for text in list(files.values()) for name in re.findall(r"\(benchmarks/(\w+)\.svg\)", text)}
    files |= records | {CHARTS / f"{name}.svg": chart(results[name]) for name in sorted(shown)}
    unused = [path for path in CHARTS.glob("*.svg") if path.stem not in shown]
    changed = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if sys.argv[1:] == ["--check"]:
        for path in changed:
            print(f"{path} is not what the recorded results give; run tests/bench/record.py", file=sys.stderr)
        for path in unused:
            print(f"no page shows {path}; run tests/bench/record.py", file=sys.stderr)
        return 1 if changed or unused else 0
    for path in changed:
        path.write_text(files[path])
    for path in unused:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
