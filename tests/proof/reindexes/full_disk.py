"""A reindex on a disk that really fills up: Elasticsearch's data are on a small file system of their own, and a file beside them takes
the room. The new index meets the high watermark when it is made, and the flood stage in the middle of its filling. Each time the
reindex has to wait, with a reason in `lockstep status`, the metrics and the log within 15 seconds, and to go on by itself when the file
is smaller. No statement of a writer may fail, no search either, and nothing may be lost or left over. Run by scripts/reindexes
--full-disk. Shares no code with the program.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import reindexes
from reindexes import PATIENCE, Crowd, World, say, search_step, write_step

WITHIN = 15  # seconds, until a reason is said
LOW, HIGH, FLOOD = 0.15, 0.10, 0.05  # of the disk are free at Elasticsearch's watermarks, by their defaults
PADDING = "update item set title = title || (select string_agg(md5(random()::text || i), '') from generate_series(1, 60) as i)"


class Disk:
    """The file beside Elasticsearch's data."""

    def __init__(self, folder):
        self.folder, self.file = folder, os.path.join(folder, "ballast")
        self.size = os.statvfs(folder).f_blocks * os.statvfs(folder).f_frsize

    def leave(self, wanted):
        """Makes the file as large as leaves so many bytes."""
        now = os.statvfs(self.folder)
        taken = os.path.getsize(self.file) if os.path.exists(self.file) else 0
        size = max(taken + now.f_bavail * now.f_frsize - int(wanted), 0)
        with open(self.file, "ab") as ballast:
            ballast.truncate(size)
            if size:
                os.posix_fallocate(ballast.fileno(), 0, size)

    def leave_share(self, share):
        self.leave(share * self.size)


def wait_until(what, condition):
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.1)
    return found


class FullDisk:
    def __init__(self, world, disk):
        self.world, self.disk = world, disk
        self.read_log = 0

    def dry_run(self):
        done = subprocess.run([self.world.options.lockstep, "reindex", "--dry-run", self.world.alias, "-c", self.world.configuration],
                              capture_output=True, text=True, timeout=PATIENCE, check=True)
        return done.stdout

    def metrics(self):
        with open(self.world.log.name, errors="replace") as log:
            port = re.findall(r"on port (\d+)", log.read())[-1]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            return answer.read().decode()

    def new_log(self):
        with open(self.world.log.name, errors="replace") as log:
            log.seek(self.read_log)
            return log.read()

    def reason(self):
        done = subprocess.run([self.world.options.lockstep, "status", "--json", "-c", self.world.configuration], capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        reindexes_of = json.loads(done.stdout)["reindexes"] if done.stdout else []
        return reindexes_of[0]["reason"] if reindexes_of else ""

    def expect_reason(self, where, words, since):
        """Status, metrics and log say that the reindex waits, and why."""
        wait_until(f"a reason at the {where}", lambda: words in self.reason())
        reason = self.reason()
        wait_until(f"a metric at the {where}", lambda: re.search(r"^lockstep_reindex_waiting\{.*\} 1$", self.metrics(), re.M))
        wait_until(f"a line in the log at the {where}", lambda: f"reindex of {self.world.alias}: " in self.new_log())
        took = time.monotonic() - since
        say(f"the {where}: said after {took:.1f} s: {reason}")
        if took > WITHIN:
            self.world.tally.fault(f"the reason at the {where} took {took:.1f} s")

    def is_placed(self, name):
        """Whether a new shard gets a place."""
        self.world.elasticsearch.ask("PUT", f"/{name}?wait_for_active_shards=0",
                                     {"settings": {"number_of_shards": 1, "number_of_replicas": 0, "hidden": True}})
        try:
            path = f"/_cluster/health/{name}?wait_for_status=yellow&timeout=1s"
            return self.world.elasticsearch.ask("GET", path)["status"] != "red"
        except reindexes.urllib.error.HTTPError as error:
            if error.code != 408:
                raise
            return False
        finally:
            self.world.elasticsearch.ask("DELETE", f"/{name}")

    def is_blocked(self):
        found = self.world.elasticsearch.ask("GET", f"/{self.world.alias}-*/_settings?expand_wildcards=all&flat_settings=true")
        return all(index["settings"].get("index.blocks.read_only_allow_delete") == "true" for index in found.values())

    def filled(self):
        """Documents that were written into the new index."""
        new = self.world.elasticsearch.generations(self.world.alias)[-1]
        return self.world.elasticsearch.ask("GET", f"/{new}/_stats/indexing")["_all"]["primaries"].get("indexing", {}).get("index_total", 0)

    def hint_before(self):
        """The dry run warns when there is no room, and only then."""
        self.disk.leave_share(0.5)
        if "would pass its high watermark" in self.dry_run():
            self.world.tally.fault("the dry run warns although there is room")
        needed = self.world.elasticsearch.ask("GET", f"/{self.world.alias}/_stats/store")["_all"]["total"]["store"]["size_in_bytes"]
        self.disk.leave(HIGH * self.disk.size + needed / 2)
        warned = lambda: "would pass its high watermark" in self.dry_run()  # noqa: E731 (the node measures its disk now and then)
        wait_until("a warning of the dry run", warned)
        say("the dry run warns")

    def meet_high_watermark(self):
        self.disk.leave_share((HIGH + FLOOD) / 2)
        wait_until("the high watermark", lambda: not self.is_placed(f"{self.world.alias}-probe"))
        command = self.world.start("reindex", self.world.alias, "--keep", "1h")
        wait_until("the new index", lambda: self.world.reindex()["state"] == "filling")
        self.expect_reason("high watermark", "shard is not active", time.monotonic())
        self.disk.leave_share(0.5)  # Elasticsearch looks for a place again when the disk is below the low one
        return command

    def meet_flood_stage(self):
        wait_until("the filling", self.filled)
        self.world.service.send_signal(signal.SIGSTOP)
        say(f"{self.filled()} documents are written")
        try:
            self.disk.leave_share(FLOOD / 2)
            wait_until("the flood stage", self.is_blocked)
            self.read_log = os.path.getsize(self.world.log.name)
        finally:
            self.world.service.send_signal(signal.SIGCONT)
        say("the indices are blocked")
        self.expect_reason("flood stage", "block", time.monotonic())
        self.disk.leave_share((LOW + HIGH) / 2)  # beyond the low watermark, which is no reason to wait

    def meet(self):
        self.hint_before()
        begun = time.monotonic()
        command = self.meet_high_watermark()
        self.meet_flood_stage()
        freed = time.monotonic()
        if command.wait(PATIENCE) != 0:
            self.world.tally.fault(f"lockstep reindex ended with {command.returncode}")
        say(f"went on by itself: over {time.monotonic() - freed:.1f} s after there was room, {time.monotonic() - begun:.1f} s in all")


def run(options, folder):
    world = World(options, folder)
    crowds = []
    try:
        world.session.run(PADDING)
        world.set_mapping(1)
        world.must("apply", "--yes")
        world.must("run", "--until-caught-up")
        world.elasticsearch.ask("POST", f"/{world.alias}/_refresh")
        world.start_service()
        writers = Crowd([write_step(world.database, number, options.items, world.tally, options.seed + number, world.postgresql_away)
                         for number in range(3)])
        searchers = Crowd([search_step(world.elasticsearch, world.alias, options.items // 2, world.tally, world.elasticsearch_away)])
        crowds = [writers, searchers]
        world.set_mapping(2)
        FullDisk(world, Disk(options.disk)).meet()
        writers.pause()
        world.compare()
        world.must("reindex", world.alias, "--finish", "--yes")
        if len(world.elasticsearch.generations(world.alias)) != 1:
            world.tally.fault(f"left over: {world.elasticsearch.generations(world.alias)}")
    finally:
        for crowd in crowds:
            crowd.end()
        world.close()
    return world.tally.tell()


def main():
    parser = argparse.ArgumentParser(description="Reindexes on a disk that fills up.")
    parser.add_argument("--disk", required=True, help="a small file system, which has Elasticsearch's data")
    parser.add_argument("--items", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lockstep", required=True)
    parser.add_argument("--postgresql", required=True)
    parser.add_argument("--elasticsearch", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return run(options, folder)


if __name__ == "__main__":
    sys.exit(main())
