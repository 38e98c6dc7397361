#!/usr/bin/env python3
"""What becomes the bound at 10, 100 and 1,000 times the load of one small machine, from measured costs (docs/scale.md).

A cost (scale_costs.json) is the median of a measure of a recorded result, records/NAME.json: by `of` if it is that of so many,
turned round if it is a rate. If no result is recorded, it is a cell of a table of README.md, the first with this row and column in
the section.

Usage: tests/bench/scale_model.py        prints all tables; docs/scale.md has some of them
"""
import heapq
import json
import math
import pathlib
import random
import re
import statistics

BENCH = pathlib.Path(__file__).resolve().parent
COSTS = BENCH / "scale_costs.json"
RESULTS = BENCH / "records"
PAGE = BENCH / "README.md"
SECONDS = {"µs": 1e-6, "ms": 1e-3, "s": 1}
SMALL_MACHINE = 2       # cores
DOCUMENTS = 1.5         # that a change changes, on average
BUSY = 0.7              # of a core or a machine, at most, so that queues stay short
DATABASE_CORES = 64     # of the largest machine for a database
NODE_CORES = 16         # of a node of the cluster
COPIES = 2              # of each shard: a primary and a replica
CHUNK = 2_000           # documents of a chunk (replication.chunk_documents)
IN_FLIGHT = 3           # bulk requests (elasticsearch.bulks_in_flight)
POLL = 0.005            # seconds (replication.poll_interval)
FACTORS = (1, 10, 100, 1000)


def first(found, what):
    """The first one found; an error that names what is missing."""
    for each in found:
        return each
    raise SystemExit(f"tests/bench/scale_costs.json names what is not there: {what}")


def of_result(cost):
    result = json.loads((RESULTS / f"{cost['result']}.json").read_text())
    measure = first((m for m in result["measures"] if m["name"] == cost["measure"]), f"{cost['result']}.json: {cost['measure']}")
    median = statistics.median(measure["values"])
    return 1 / median if measure["unit"].endswith("/s") else median * SECONDS[measure["unit"]] / cost.get("of", 1)


def of_page(cost):
    where = f"tests/bench/README.md, {cost['section']}"
    section = first(re.findall(rf"^## {re.escape(cost['section'])}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL), where)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.split("\n") if line.startswith("|")]
    row = first((row for row in rows if row[0] == cost["row"]), f"{where}: {cost['row']}")
    column = first((number for number, name in enumerate(rows[0]) if name == cost["column"]), f"{where}: {cost['column']}")
    value, unit = row[column].split()
    return float(value.replace(",", "")) * SECONDS[unit]


def resolved(costs):
    """Name → seconds."""
    return {name: of_page(cost) if "row" in cost else of_result(cost) for name, cost in costs.items()}


def table(head, rows):
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, ["---"] * len(head), *rows])


def cost_table(costs, seconds):
    def source(cost):
        return f"{cost['result']}: {cost['measure']}" if "result" in cost else f"{cost['section']}: {cost['row']}, {cost['column']}"
    return table(["cost", "", "from"],
                 [[cost["meaning"], f"{seconds[name] * 1e6:,.1f} µs", source(cost)] for name, cost in costs.items()])


def base(c):
    """One times: changes a second, in one digit, that a machine without replicas carries with everything on it."""
    change = c["writer"] + c["trigger"] + DOCUMENTS * (c["follow"] + c["lockstep"] + c["index"])
    load = SMALL_MACHINE * BUSY / change
    digit = 10 ** math.floor(math.log10(load))
    return int(load // digit * digit)


WRITERS = "writers and triggers of one database"
PIPELINE = "one pipeline: its process and two connections"
NODE = "one node of Elasticsearch, with its part of the replicas"
MORE = {
    WRITERS: "several databases, a pipeline for each",
    PIPELINE: "more `source.render_connections`; several pipelines",
    NODE: "more nodes, and shards on them",
}


def capacities(c):
    """Part → changes a second of one of it, the narrowest first."""
    return dict(sorted({
        WRITERS: DATABASE_CORES * BUSY / (c["writer"] + c["trigger"]),
        PIPELINE: BUSY / (c["pipeline"] * DOCUMENTS),
        NODE: NODE_CORES * BUSY / (c["index"] * DOCUMENTS * COPIES),
    }.items(), key=lambda part: part[1]))


def capacity_table(c):
    return table(["one part", "carries, changes/s", "that is", "what carries more"],
                 [[name, f"{rate:,.0f}", f"{rate / base(c):,.1f}×", MORE[name]] for name, rate in capacities(c).items()])


def needs(c, load):
    """What a load takes: databases, pipelines (or shares of one), nodes."""
    part = capacities(c)
    return math.ceil(load / part[WRITERS]), math.ceil(load / part[PIPELINE]), max(COPIES, math.ceil(load / part[NODE]))


def load_table(c):
    rows = []
    for factor in FACTORS:
        load = base(c) * factor
        documents = load * DOCUMENTS
        rows.append([f"{factor:,}×", f"{load:,}", *needs(c, load), f"{load * (c['writer'] + c['trigger']):,.1f}",
                     f"{documents * c['follow']:,.1f}", f"{documents * c['lockstep']:,.1f}", f"{documents * COPIES * c['index']:,.1f}"])
    return table(["load", "changes/s", "databases", "pipelines or shares", "nodes", "cores: writers, triggers",
                  "cores: following", "cores: Lockstep", "cores: Elasticsearch"], rows)


def simulate(c, rate, pipelines, nodes, seconds=20):
    """p50 and p99 (ms) of the time from commit to outcome. `rate` changes a second spread over equal pipelines that share the
    cluster; each goes round as lockstep does: takes all that is visible, up to a chunk, renders, hands over, and waits when all
    bulk requests are on their way."""
    draw = random.Random(1)
    step, per_step = 0.001, rate / pipelines * 0.001
    arrivals = []
    for i in range(int(seconds / step)):
        # Poisson; the normal distribution is close enough to it where there are many
        count = round(draw.gauss(per_step, math.sqrt(per_step))) if per_step > 30 else 0
        if per_step <= 30:
            limit, product = math.exp(-per_step), draw.random()
            while product > limit:
                count, product = count + 1, product * draw.random()
        if count > 0:
            arrivals.append((i * step, count))
    fixed = c["turn"] / 2  # of it one half is spent before the bulk request, the other in it
    index = c["index"] * COPIES * pipelines / (nodes * NODE_CORES) * IN_FLIGHT  # as if all had their share of the cluster
    busy, now, at, waits = [0.0] * IN_FLIGHT, 0.0, 0, []
    while at < len(arrivals):
        if arrivals[at][0] > now:
            now = arrivals[at][0] + draw.random() * POLL
        batch, documents = [], 0
        while at < len(arrivals) and arrivals[at][0] <= now and documents < CHUNK:
            batch.append(arrivals[at])
            documents += arrivals[at][1] * DOCUMENTS
            at += 1
        now = max(now + fixed + documents * c["pipeline"], busy[0])
        done = now + fixed + documents * index
        heapq.heapreplace(busy, done)
        waits += [(done - begin, count) for begin, count in batch]
    waits.sort()
    total, seen, found = sum(count for _, count in waits), 0, []
    for wait, count in waits:
        seen += count
        while len(found) < 2 and seen >= total * (0.5, 0.99)[len(found)]:
            found.append(wait * 1000)
    return found


def latency_table(c):
    rows = []
    for factor in FACTORS:
        load = base(c) * factor
        _, pipelines, nodes = needs(c, load)
        p50, p99 = simulate(c, load, pipelines, nodes)
        rows.append([f"{factor:,}×", f"{pipelines} and {nodes}", f"{p50:.0f} ms", f"{p99:.0f} ms"])
    most = capacities(c)[PIPELINE] / BUSY
    for share in (0.5, 0.9, 1.1):
        p50, p99 = simulate(c, most * share, 1, needs(c, most * share)[2])
        rows.append([f"{share:.0%} of what one pipeline can", f"1 and {needs(c, most * share)[2]}", f"{p50:.0f} ms", f"{p99:.0f} ms"])
    return table(["load", "pipelines and nodes", "p50", "p99"], rows)


def tables(costs):
    """Name of the place in docs/scale.md → table."""
    c = resolved(costs)
    return {
        "scale-costs": cost_table(costs, c),
        "scale-capacities": capacity_table(c),
        "scale-loads": load_table(c),
        "scale-latencies": latency_table(c),
    }


if __name__ == "__main__":
    for name, text in tables(json.loads(COSTS.read_text())).items():
        print(f"{name}\n\n{text}\n")
