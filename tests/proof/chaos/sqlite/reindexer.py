"""An operator who reindexes at random while everything else goes on: another number of shards, another view, the way back, the end,
taking back. The commands run beside everything else, and are killed as everything else is. And somebody who searches all the while.
"""
import json
import re
import subprocess
import threading
import time

MOVES = (("reindex", 6), ("reindex --back", 4), ("reindex --finish", 3), ("reindex --abort", 1))
COMMANDS = 3  # at once, at most


class Reindexer:
    def __init__(self, run):
        self.run, self.commands, self.started = run, {}, 0

    def move(self):
        what = self.run.choose.choices([name for name, _ in MOVES], [weight for _, weight in MOVES])[0]
        self.end_over()
        if len(self.commands) >= COMMANDS:
            return
        arguments = what.split() + ["--yes", self.run.index.alias]
        if what == "reindex":
            if not self.run.query("select 1 from lockstep_reindex"):
                self.run.configure(self.run.choose.choice(self.run.views), self.run.choose.randint(1, 3))
            arguments += ["--keep", self.run.choose.choice(["1h", "1h", "1h", "0s"])]
        self.run.count(what)
        self.started += 1
        name = f"command-{self.started}"
        self.run.start(self.commands, name, [self.run.options.lockstep, *arguments, "-c", self.run.configuration], self.run.environment)

    def end_over(self):
        """0: done; 1: something was away, or it was taken back meanwhile; 2: it does not fit the state."""
        for name, process in list(self.commands.items()):
            code = process.poll()
            if code is None:
                continue
            if code not in (0, 1, 2):
                self.run.find(f"a command ended with {code}: {self.run.tail_of(name)}")
            self.run.counts[f"commands that ended with {code}"] += 1
            del self.commands[name]

    def kill(self):
        self.end_over()
        for name in list(self.commands):
            self.run.counts["commands that were killed"] += 1
            self.run.kill(self.commands, name)

    def lockstep(self, *arguments):
        return subprocess.run([self.run.options.lockstep, *arguments, "-c", self.run.configuration], capture_output=True, text=True,
                              env=self.run.environment, timeout=self.run.patience, check=False)

    def obstacle(self):
        """What keeps the configuration from being what is followed, or a reindex from its end, in the program's words."""
        applied = self.lockstep("apply", "--yes")
        if applied.returncode != 0:
            return applied.stdout + applied.stderr
        status = self.lockstep("status", "--json")
        if status.returncode != 0:
            return status.stdout + status.stderr
        for reindex in json.loads(status.stdout)["reindexes"]:
            if reindex["state"] == "failed":
                return f"it has failed: {reindex['failure']}; `lockstep reindex {reindex['alias']}`"
            if reindex["state"] != "kept" or reindex["wanted"]:
                return f"it is {reindex['state']}, wanted \"{reindex['wanted']}\": {reindex['reason']}"
        return ""

    def follow(self, words):
        """Does what they say, and what is said then."""
        for _ in range(3):
            asked = re.search(r"`lockstep (reindex[^`]*)`", words)
            if not asked:
                return
            self.run.count("command that the program asked for")
            done = self.lockstep(*asked.group(1).split())
            if done.returncode == 0:
                return
            words = done.stderr
            self.run.note(words)

    def settle(self):
        """Lets each reindex come to an end or be kept, and the index be what the configuration says, by doing what the program's
        own words say. REQUIRES: nothing is disturbed."""
        begin, last = time.monotonic(), ""
        while obstacle := self.obstacle():
            if time.monotonic() - begin > self.run.patience:
                self.run.find(f"cannot be settled: {obstacle}")
                return
            if obstacle != last:
                self.run.note(obstacle)
            last = obstacle
            self.follow(obstacle)
            time.sleep(0.2)


class Searcher(threading.Thread):
    """No search may fail, be empty, or see two generations."""

    def __init__(self, run):
        super().__init__(daemon=True)
        self.run_of, self.ended, self.seen = run, threading.Event(), False

    def run(self):
        query = {"size": 0, "track_total_hits": True, "aggs": {"indices": {"terms": {"field": "_index"}}}}
        while not self.ended.wait(0.02):
            try:
                found = self.run_of.index.ask("POST", f"/{self.run_of.index.alias}/_search", query)
            except (OSError, ValueError) as error:
                self.run_of.find(f"a search failed: {error}")
                return
            self.run_of.counts["searches"] += 1
            total, indices = found["hits"]["total"]["value"], found["aggregations"]["indices"]["buckets"]
            self.seen = self.seen or total > 0
            if found["_shards"]["failed"] or len(indices) > 1 or (self.seen and total == 0):
                self.run_of.find(f"a search found {total} documents in {indices}, {found['_shards']}")
                return

    def end(self):
        self.ended.set()
        if self.is_alive():
            self.join()
