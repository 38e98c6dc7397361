#!/usr/bin/env python3
"""Lockstep, PGSync and Debezium on the same work, on the same servers, in turns; beside the ceiling, which is what Elasticsearch
takes of ready-made bulk requests. scripts/peers installs them, starts the servers and calls this.

In each round every tool has a database and an index of its own. It fills the index; follows two writers; is stopped while they write
as much again, and drains that; has a user renamed in 5 % of all documents; and shows single changes. At the end every document is
compared with its row.
"""
import argparse
import datetime
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

from report import Report
from tools import MAPPING, TOOLS, Lockstep
from world import TEMPLATE, Elasticsearch, NeverSo, World, make_template, wait_until, with_server

CEILING = "ceiling"
PER_SECOND = 20  # single changes
FOLLOW_SECONDS = 60  # until every document is equal, after the last change
DIFFERENT = "documents that differ at the end"
RENAME = "rename: a user in 5 % of all documents"
RENAME_SECONDS = 300
WRITERS = "two writers: what they reach, the tool following"


class Measured:
    """One tool in one round: each step adds to the report."""

    def __init__(self, tool, changes, samples, report):
        self.tool, self.world, self.changes, self.samples, self.report = tool, tool.world, changes, samples, report

    def add(self, name, unit, value):
        self.report.add(name, unit, self.tool.name, value)

    def fill(self):
        world, tool = self.world, self.tool
        tool.prepare()
        cpu = tool.cpu()
        begun = time.monotonic()
        tool.start()
        wait_until(lambda: world.operations() >= world.posts, "documents are written", 0.05, tool.require_running)
        wait_until(lambda: world.count({"match_all": {}}) >= world.posts, "documents are found", 0.05, tool.require_running)
        self.add("filling: rate", "documents/s", world.posts / (time.monotonic() - begun))
        self.add("filling: CPU of the tool", "s", tool.cpu() - cpu)
        self.add("filling: peak memory", "MiB", tool.memory())
        world.settle(tool.require_running)

    def follow(self):
        world, tool = self.world, self.tool
        cpu, postgresql = tool.cpu(), world.postgresql_cpu()
        rate = world.write(self.changes, "followed")
        lag = world.await_all("followed", world.mark(), time.monotonic(), tool.require_running)
        self.add(WRITERS, "changes/s", rate)
        self.add("two writers: the last change is there after", "s", lag)
        self.add("two writers: CPU of the tool", "s", tool.cpu() - cpu)
        self.add("two writers: CPU of PostgreSQL", "s", world.postgresql_cpu() - postgresql)

    def drain(self):
        world, tool = self.world, self.tool
        tool.stop()
        world.write(self.changes, "backlog")
        mark = world.mark()
        begun = time.monotonic()
        tool.start()
        seconds = world.await_all("backlog", mark, begun, tool.require_running)
        self.add("backlog, from the start of the tool", "changes/s", self.changes / seconds)

    def rename(self):
        """Documents that still have the old name after five minutes are said to be lost; the time is then unknown."""
        world, tool = self.world, self.tool
        name = f"renamed for {tool.name}"
        posts = world.value("select count(*) from blog.posts where user_id = 1")
        world.settle(tool.require_running)
        world.rows(f"update blog.users set name = '{name}' where id = 1")

        def renamed():
            return world.count({"term": {"user.name.raw": name}})

        try:
            took = wait_until(lambda: renamed() == posts, "the rename is found", 0.02, tool.require_running, RENAME_SECONDS)
            self.add(RENAME, "s", took)
            lost = 0
        except NeverSo:
            lost = posts - renamed()
        self.add("rename: documents that keep the old name", "", lost)

    def single_changes(self):
        for variant in self.tool.variants:
            if variant != self.tool.variant:
                self.tool.stop()
                self.tool.variant = variant
                self.tool.start()
            self.world.settle(self.tool.require_running)
            found = self.world.latencies(self.samples, PER_SECOND, self.world.change_one, self.tool.require_running)
            self.report.add_latencies(self.tool.name, variant, found)

    def compare(self):
        """Waits a minute for equality; then what differs has been lost."""
        deadline = time.monotonic() + FOLLOW_SECONDS
        while (differ := self.world.differences()) and time.monotonic() < deadline:
            self.tool.require_running()
            time.sleep(1)
        self.add(DIFFERENT, "", differ)

    def run(self):
        try:
            for step in (self.fill, self.follow, self.drain, self.rename, self.single_changes, self.compare):
                step()
        finally:
            self.tool.close()


def measure_ceiling(world, changes, samples, report):
    """What Elasticsearch takes of the same documents, ready made, and how fast one of them is seen."""
    def send_one(i):
        number, title, since = world.posts - i, f"single {i}", time.monotonic()
        body = f'{{"index":{{"_id":"{number}"}}}}\n{json.dumps({"title": title})}\n'.encode()
        world.elasticsearch.ask("POST", f"/{world.index}/_bulk?filter_path=errors", body)
        return number, title, since

    world.make_index(MAPPING)
    bodies = world.bodies()
    begun = time.monotonic()
    world.send(bodies)
    wait_until(lambda: world.count({"match_all": {}}) >= world.posts, "documents are found", 0.05)
    report.add("filling: rate", "documents/s", CEILING, world.posts / (time.monotonic() - begun))
    report.add(WRITERS, "changes/s", CEILING, world.write(changes, "alone"))
    rewritten = min(changes, world.posts)
    report.add("backlog, from the start of the tool", "changes/s", CEILING, rewritten / world.send(world.bodies(f"id <= {rewritten}")))
    of_one_user = world.bodies("id in (select id from blog.posts where user_id = 1)")
    report.add(RENAME, "s", CEILING, world.send(of_one_user))
    report.add_latencies(CEILING, "", world.latencies(samples, PER_SECOND, send_one, lambda: None))


def measure(options, report):
    work = options.work
    contestants = [None, *TOOLS]  # the ceiling comes first
    for number in range(1, options.rounds + 1):
        for contestant in contestants if number % 2 else reversed(contestants):
            name = contestant.name if contestant else CEILING
            folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-{number}.", dir=work))
            print(f"round {number}: {name}", flush=True)
            world = World(options.postgresql, options.elasticsearch, f"{name.lower()}_{number}", options.posts, folder)
            try:
                world.elasticsearch.let_merges_end()
                if contestant:
                    Measured(contestant(world, folder, options.peers), options.changes, options.samples, report).run()
                else:
                    measure_ceiling(world, options.changes, options.samples, report)
            finally:
                world.close()


def surroundings(options):
    memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1])
    return {"cores": len(os.sched_getaffinity(0)), "memory_gib": memory / 1048576, "load_before": os.getloadavg()[0],
            "elasticsearch": Elasticsearch(options.elasticsearch).version()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=pathlib.Path, required=True, help="where scripts/peers has installed them")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for configurations and logs")
    parser.add_argument("--postgresql", required=True, help="URL of a superuser, whose server has wal_level = logical")
    parser.add_argument("--elasticsearch", required=True, help="URL of a server without users")
    parser.add_argument("--json", type=pathlib.Path, required=True, help="the results go there")
    for name, meaning in (("rounds", "how often everything is measured"), ("posts", "documents"),
                          ("changes", "updates of single rows"),
                          ("samples", "single changes, each of a document of its own: a hundredth of the documents, less 2, at most")):
        parser.add_argument(f"--{name}", type=int, required=True, help=meaning)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the tools are stopped
    report = Report()
    results = {"benchmark": "peers", "date": datetime.date.today().isoformat(), "on": surroundings(options),
               "parameters": {name: getattr(options, name) for name in ("changes", "posts", "rounds", "samples")}}
    results["on"]["postgresql"] = make_template(options.postgresql, options.posts)
    try:
        measure(options, report)
    finally:
        with_server(options.postgresql, f"drop database if exists {TEMPLATE}")
    results["columns"] = [CEILING, *(tool.name for tool in TOOLS)]
    results["rows"] = report.rows()
    options.json.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    if any(report.values(DIFFERENT, Lockstep.name)):
        print("peers: lockstep's documents differ from their rows, which is a defect", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
