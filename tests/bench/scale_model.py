#!/usr/bin/env python3
"""What becomes the bound at 10, 100 and 1,000 times the load of one small machine, from measured costs (docs/scale.md).

A cost is a value with its source, or a measure of a recorded result: docs/benchmarks/NAME.json, the median times a factor, by
a parameter where the cost is that of one of so many. All costs are CPU of one core.

Usage: tests/bench/scale_model.py        prints the tables of docs/scale.md
"""
import heapq
import json
import math
import pathlib
import random
import statistics

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "benchmarks"

BASE = 5_000            # changes a second: what one machine of 2 cores carries with its writers
DOCUMENTS = 1.5         # that a change changes, on average
BUSY = 0.7              # of a core or a machine, at most, so that queues stay short
DATABASE_CORES = 64     # of the largest machine for a database
NODE_CORES = 16         # of a node of the cluster
COPIES = 2              # of each shard: a primary and a replica
CHUNK = 2_000           # documents of a chunk (replication.chunk_documents)
IN_FLIGHT = 3           # bulk requests (elasticsearch.bulks_in_flight)
POLL = 0.005            # seconds (replication.poll_interval)


def resolved(costs):
    """Name → seconds of a core."""
    seconds = {}
    for name, cost in costs.items():
        value = cost.get("value")
        if value is None:
            result = json.loads((RESULTS / f"{cost['result']}.json").read_text())
            measure = next(m for m in result["measures"] if m["name"] == cost["measure"])
            value = statistics.median_low(measure["values"]) * cost["factor"]
            value /= result["parameters"][cost["per"]] if "per" in cost else 1
        seconds[name] = value * {"µs": 1e-6, "ms": 1e-3, "s": 1}[cost["unit"]]
    return seconds


def table(head, rows):
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, ["---"] * len(head), *rows])


def cost_table(costs, seconds):
    def source(cost):
        return f"[{cost['source']}](benchmarks.md)" if "source" in cost else f"`{cost['result']}`: {cost['measure']}"
    return table(["cost", "", "from"],
                 [[cost["meaning"], f"{seconds[name] * 1e6:,.1f} µs", source(cost)] for name, cost in costs.items()])


def capacities(c):
    """Part → changes a second of one of it."""
    return {
        "writers and triggers of one database": DATABASE_CORES * BUSY / (c["writer"] + c["trigger"]),
        "one pipeline: its connection to PostgreSQL": BUSY / (c["follow"] * DOCUMENTS),
        "one pipeline: the process": BUSY / (c["lockstep"] * DOCUMENTS),
        "one node of Elasticsearch, no replica": NODE_CORES * BUSY / (c["index"] * DOCUMENTS),
    }


def needs(c, load):
    """What a load takes: databases, pipelines (or shares of one), nodes."""
    part = capacities(c)
    return (math.ceil(load / part["writers and triggers of one database"]),
            math.ceil(load / min(part["one pipeline: its connection to PostgreSQL"], part["one pipeline: the process"])),
            max(COPIES, math.ceil(load * COPIES / part["one node of Elasticsearch, no replica"])))


def load_table(c):
    rows = []
    for factor in (1, 10, 100, 1000):
        databases, pipelines, nodes = needs(c, BASE * factor)
        rows.append([f"{factor:,}×", f"{BASE * factor:,}", databases, pipelines, nodes,
                     f"{BASE * factor * (c['writer'] + c['trigger']):,.0f}", f"{BASE * factor * DOCUMENTS * c['follow']:,.1f}",
                     f"{BASE * factor * DOCUMENTS * c['lockstep']:,.1f}", f"{BASE * factor * DOCUMENTS * COPIES * c['index']:,.0f}"])
    return table(["load", "changes/s", "databases", "pipelines or shares", "nodes", "cores: writers, triggers",
                  "cores: following", "cores: lockstep", "cores: Elasticsearch"], rows)


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
        now = max(now + fixed + documents * max(c["follow"], c["lockstep"]), busy[0])
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
    for factor in (1, 10, 100, 1000):
        load = BASE * factor
        _, pipelines, nodes = needs(c, load)
        p50, p99 = simulate(c, load, pipelines, nodes)
        rows.append([f"{factor:,}×", f"{pipelines} and {nodes}", f"{p50:.0f} ms", f"{p99:.0f} ms"])
    part = capacities(c)
    most = min(part["one pipeline: its connection to PostgreSQL"], part["one pipeline: the process"]) / BUSY
    for share in (0.5, 0.9, 1.1):
        p50, p99 = simulate(c, most * share, 1, needs(c, most * share)[2])
        rows.append([f"{share:.0%} of what one pipeline can", f"1 and {needs(c, most * share)[2]}", f"{p50:.0f} ms", f"{p99:.0f} ms"])
    return table(["load", "pipelines and nodes", "p50", "p99"], rows)


def tables(costs):
    """Name of the place in docs/scale.md → table."""
    c = resolved(costs)
    return {
        "scale-costs": cost_table(costs, c),
        "scale-capacities": table(["one part", "carries, changes/s", "that is"], [
            [name, f"{rate:,.0f}", f"{rate / BASE:,.1f}×"] for name, rate in capacities(c).items()]),
        "scale-loads": load_table(c),
        "scale-latencies": latency_table(c),
    }


if __name__ == "__main__":
    for name, text in tables(json.loads((RESULTS / "scale_costs.json").read_text())).items():
        print(f"{name}\n\n{text}\n")
