"""Promises 1 to 3 over a SQLite file under everything at once: several processes write into the file and migrate its table, two
replicators follow, an operator reindexes, and whoever it is is killed. In rounds: at the end of each one all of them die, the file
suffers a power cut, is replaced by a backup or overwritten by one, and every document of every generation is compared with its view.
Run by scripts/chaos --source sqlite.

The seed decides what is written and which faults are chosen; the timing is the machine's.
"""
import argparse
import collections
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

import power_cut
import reindexer
import writer

HERE = os.path.dirname(os.path.abspath(__file__))
VIEW = """create view {} as select i.id as _id, i.owner_id as _owner_id, i.name, i.slug, i.n,
  json_object('name', o.name, 'n', o.n) as owner{} from items as i join owners as o on o.id = i.owner_id"""
CONFIGURATION = """[source]
url = 'sqlite:{file}'
[elasticsearch]
urls = ['{elasticsearch}']
request_timeout = '10s'
[replication]
fan_out_threshold = 60
chunk_documents = 50
[[index]]
alias = '{alias}'
mapping = 'mapping.json'
view = '{view}'
json = ['owner']
[[index.track]]
table = 'items'
[[index.track]]
table = 'owners'
column = '_owner_id'
"""
PATIENCE = 180  # seconds, until everything is equal again


class Index:
    def __init__(self, url, alias):
        self.url, self.alias = url, alias

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def generations(self):
        return sorted(self.ask("GET", f"/{self.alias}-*?expand_wildcards=all"))

    def documents(self, name):
        """None: there is no such index."""
        try:
            self.ask("POST", f"/{name}/_refresh")
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            return None
        hits = self.ask("POST", f"/{name}/_search", {"size": 10000})["hits"]["hits"]
        return {hit["_id"]: hit["_source"] for hit in hits}

    def delete(self):
        for name in self.generations():
            self.ask("DELETE", f"/{name}")


class Run:
    def __init__(self, options, folder):
        self.options = options
        self.choose = random.Random(options.seed)
        self.folder = folder
        self.file = os.path.join(folder, "app.db")
        self.ledger = os.path.join(folder, "ledger")
        self.stop = os.path.join(folder, "stop")
        self.configuration = os.path.join(folder, "lockstep.toml")
        self.index = Index(options.elasticsearch.rstrip("/"), f"chaos-sqlite-{os.getpid()}")
        self.environment = {**os.environ, "LD_PRELOAD": options.ledger, "SYNC_LEDGER": self.ledger,
                            "SYNC_JOURNAL": self.file + "-journal"}
        self.counts = collections.Counter()
        self.findings = []
        self.committed = 0
        self.longest = 0.0
        self.writers, self.replicators = {}, {}
        self.backups = 0
        self.shape = 0
        self.views, self.patience = ("documents", "documents_2"), PATIENCE
        self.reindexer, self.searcher = reindexer.Reindexer(self), reindexer.Searcher(self)
        self.begun = time.monotonic()

    # --- what runs ---

    def note(self, text):
        print(f"{time.monotonic() - self.begun:8.1f} s  {text}", file=sys.stderr, flush=True)

    def count(self, what):
        self.counts[what] += 1
        self.note(what)

    def find(self, text):
        self.findings.append(text)
        self.note("FOUND: " + text)

    def lockstep(self, *arguments):
        done = subprocess.run([self.options.lockstep, *arguments, "-c", self.configuration], capture_output=True, text=True,
                              env=self.environment, timeout=PATIENCE, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"lockstep {arguments[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")

    def start(self, processes, name, command, environment):
        log = open(os.path.join(self.folder, name + ".log"), "ab")  # pylint: disable=consider-using-with
        processes[name] = subprocess.Popen(command, stdout=log, stderr=log, env=environment)  # pylint: disable=consider-using-with
        log.close()

    def start_writer(self, name):
        role = "schema" if name == "writer-0" else "rows"
        synchronous = "full" if name == "writer-1" and not self.options.without and self.choose.random() < 0.3 else "normal"
        self.start(self.writers, name, [sys.executable, "-B", os.path.join(HERE, "writer.py"), self.file,
                                        str(self.choose.randrange(1 << 30)), role, self.stop, synchronous], self.environment)

    def start_replicator(self, name):
        environment = os.environ if self.options.without == "syncs" else self.environment
        self.start(self.replicators, name, [self.options.lockstep, "run", "-c", self.configuration], environment)

    def start_replicators(self):
        for name in ("lockstep-a", "lockstep-b"):
            self.start_replicator(name)

    def tail_of(self, name):
        with open(os.path.join(self.folder, name + ".log"), errors="replace", encoding="utf-8") as log:
            return log.read()[-1500:]

    def kill(self, processes, name):
        process = processes.pop(name)
        process.kill()
        process.wait()

    def kill_all(self):
        self.reindexer.kill()
        for processes in (self.writers, self.replicators):
            for process in processes.values():
                process.kill()
            for name in list(processes):
                self.kill(processes, name)

    def look_after(self):
        for processes in (self.writers, self.replicators):
            for name, process in list(processes.items()):
                if process.poll() is not None:
                    self.find(f"{name} has ended with {process.returncode}: {self.tail_of(name)}")
                    processes.pop(name)

    # --- what is read, by a way of its own ---

    def query(self, sql):
        database = sqlite3.connect(self.file, timeout=120)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def revision(self):
        return self.query("select value from revision")[0][0]

    def view(self, name):
        database = sqlite3.connect(self.file, timeout=120)
        database.row_factory = sqlite3.Row
        try:
            rows = [dict(row) for row in database.execute(f"select * from {name}")]
        finally:
            database.close()
        return {str(row["_id"]): {key: json.loads(value) if key == "owner" else value
                                  for key, value in row.items() if not key.startswith("_")} for row in rows}

    def differences(self):
        different = []
        for index, view in self.query("select alias, view from lockstep_index where followed = 1"):
            expected, found = self.view(view), self.index.documents(index)
            if found is None:
                different.append(f"{index}, which is gone")
                continue
            different += [f"{index}/{key}" for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)]
        return different

    def leftovers(self):
        """Indices that nobody would find again. What is being deleted takes its time."""
        followed, found = self.query("select alias from lockstep_index where followed = 1"), self.index.generations()
        return "" if len(followed) == len(found) else f"{followed} are followed, and there are {found}"

    # --- the run ---

    def make(self):
        self.configure(self.views[0], 1)
        database = sqlite3.connect(self.file, isolation_level=None)
        database.executescript(
            "pragma journal_mode = wal; create table revision (value integer not null); insert into revision values (0);"
            "create table owners (id integer primary key, name text not null, n integer not null);"
            + writer.TABLE.format("items", "") + ";" + "".join(VIEW.format(view, "") + ";" for view in self.views))
        database.executemany("insert into owners values (?, 'owner', 0)", [(i,) for i in range(1, writer.OWNERS + 1)])
        database.executemany("insert into items values (?, 'item', ?, 0, ?)",
                             [(i, f"slug {i}", 1 + i % writer.OWNERS) for i in range(1, writer.ITEMS + 1)])
        database.close()
        self.lockstep("apply", "--yes")
        self.start_replicators()

    def configure(self, view, shards):
        settings = {"number_of_shards": shards, "number_of_replicas": 0, "refresh_interval": "-1"}
        self.write("mapping.json", json.dumps({"settings": settings, "mappings": {"dynamic": False}}))
        self.write("lockstep.toml", CONFIGURATION.format(file=self.file, elasticsearch=self.index.url, alias=self.index.alias, view=view))

    def write(self, name, text):
        """At once: a program may begin to read it meanwhile."""
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)

    def disturb(self, seconds):
        end = time.monotonic() + seconds
        for number in range(self.options.writers):
            self.start_writer(f"writer-{number}")
        while time.monotonic() < end and not self.findings:
            time.sleep(self.choose.uniform(0.1, 1))
            self.look_after()
            self.reindexer.end_over()
            fault = self.choose.choices((self.kill_writer, self.kill_replicator, self.end_replicator, self.sleep_replicator,
                                         self.read_for_long, self.replace_view, self.reindexer.move),
                                        (10, 8, 1, 1, 1, 0.6, 8))[0]
            fault()

    def kill_writer(self):
        name = self.choose.choice(sorted(self.writers))
        self.count("kill -9 of a writer")
        self.kill(self.writers, name)
        self.start_writer(name)

    def kill_replicator(self):
        name = self.choose.choice(sorted(self.replicators))
        self.count("kill -9 of lockstep")
        self.kill(self.replicators, name)
        self.start_replicator(name)

    def end_replicator(self):
        name = self.choose.choice(sorted(self.replicators))
        self.count("SIGTERM of lockstep")
        process = self.replicators.pop(name)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
            if "not stopped in time" in self.tail_of(name)[-200:]:  # the next one does again what was not acknowledged
                self.count("SIGTERM that took longer than 5 s")
            elif process.returncode not in (0, -signal.SIGTERM):  # it may only just have been started
                self.find(f"{name} ended with {process.returncode} after SIGTERM: {self.tail_of(name)}")
        except subprocess.TimeoutExpired:
            self.find(f"{name} did not end after SIGTERM")
            process.kill()
        self.start_replicator(name)

    def sleep_replicator(self):
        process = self.choose.choice(sorted(self.replicators.items()))[1]
        self.count("SIGSTOP of lockstep")
        process.send_signal(signal.SIGSTOP)
        time.sleep(self.choose.uniform(0.2, 2))
        process.send_signal(signal.SIGCONT)

    def read_for_long(self):
        self.count("a long reader")
        database = sqlite3.connect(self.file, timeout=120, isolation_level=None)
        database.execute("begin")
        database.execute("select count(*) from items").fetchall()
        time.sleep(self.choose.uniform(0.2, 1))
        database.close()

    def replace_view(self):
        self.count("view replaced, then apply")
        self.shape += 1
        database = sqlite3.connect(self.file, timeout=120, isolation_level=None)
        database.execute("pragma wal_autocheckpoint = 0")  # what this process syncs is not in the ledger
        database.execute("begin immediate")
        view = self.choose.choice(self.views)
        database.execute(f"drop view {view}")
        database.execute(VIEW.format(view, f", {self.shape} as shape"))
        database.execute("commit")
        database.close()
        applied = self.reindexer.lockstep("apply", "--yes")
        if applied.returncode != 0 and "lockstep reindex" not in applied.stderr:  # which gets the index another view or mapping
            self.find(f"apply ended with {applied.returncode}: {applied.stderr}")

    def pause_writers(self):
        with open(self.stop, "w", encoding="utf-8"):
            pass
        for name in list(self.writers):
            process = self.writers.pop(name)
            if process.wait(PATIENCE) != 0:
                self.find(f"a statement of {name} failed: {self.tail_of(name)}")
        os.remove(self.stop)

    def back_up(self):
        self.backups += 1
        backup = os.path.join(self.folder, f"backup-{self.backups}.db")
        source, target = sqlite3.connect(self.file, timeout=120), sqlite3.connect(backup)
        source.backup(target)
        source.close()
        target.close()
        return backup

    def forget(self, *suffixes):
        for suffix in suffixes:
            if os.path.exists(self.file + suffix):
                os.remove(self.file + suffix)

    def cut_power(self):
        before = self.revision_on_disk()
        self.count("power cut: " + power_cut.cut(self.file, self.ledger, self.choose).lstrip("0123456789 "))
        try:
            after = self.revision()
        except sqlite3.DatabaseError as error:
            self.find(f"the power cut has damaged the file: {error}")
            return
        # Before anybody could mend it: nothing that the index shows may be newer than the file.
        shown = max((max(doc["n"], doc["owner"]["n"]) for name in self.index.generations()
                     for doc in self.index.documents(name).values()), default=0)
        if shown > after:
            self.find(f"Elasticsearch shows revision {shown}, and the power cut took back everything after {after} (of {before})")
        os.path.exists(self.ledger) and os.remove(self.ledger)
        self.set_journal(self.choose.choice(("wal", "wal", "wal", "delete")))
        self.start_replicators()

    # By a copy: who opens the file would change it.
    def revision_on_disk(self):
        copy = os.path.join(self.folder, "copy.db")
        for suffix in ("", "-wal", "-journal"):
            if os.path.exists(copy + suffix):
                os.remove(copy + suffix)
            if os.path.exists(self.file + suffix):
                shutil.copy(self.file + suffix, copy + suffix)
        database = sqlite3.connect(copy)
        try:
            return database.execute("select value from revision").fetchone()[0]
        finally:
            database.close()

    def rename_over(self, backup):
        self.count("backup renamed over the file")
        os.replace(backup, self.file)
        self.forget("-wal", "-shm", "-journal", "-journal.kept")

    def copy_in_place(self, backup):
        for name in list(self.replicators):
            self.end_replicator_for_good(name)
        self.forget("-wal", "-shm", "-journal", "-journal.kept")
        self.count("backup copied over the file")
        with open(backup, "rb") as source, open(self.file, "r+b") as target:
            shutil.copyfileobj(source, target)
            target.truncate()
        self.start_replicators()

    def end_replicator_for_good(self, name):
        process = self.replicators.pop(name)
        process.send_signal(signal.SIGTERM)
        process.wait(60)

    def set_journal(self, mode):
        """REQUIRES: nobody has the file open."""
        database = sqlite3.connect(self.file, timeout=120)
        got = database.execute(f"pragma journal_mode = {mode}").fetchone()[0]
        database.close()
        assert got == mode, got

    def check(self):
        begin = time.monotonic()
        self.reindexer.settle()
        different, left = self.differences(), self.leftovers()
        while (different or left) and time.monotonic() - begin < PATIENCE:
            time.sleep(0.2)
            different, left = self.differences(), self.leftovers()
        self.longest = max(self.longest, time.monotonic() - begin)
        self.counts["checks of all documents"] += 1
        if different:
            self.find(f"{len(different)} documents differ: {sorted(different)[:5]}")
        if left:
            self.find(left)
        self.look_after()

    def round(self):
        if self.choose.random() < 0.5:
            self.reindexer.move()  # so that the backup may be in the middle of a reindex
            time.sleep(self.choose.uniform(0, 2))
        backup = self.back_up()
        before = self.revision()
        self.disturb(self.options.round)
        weights = (1, 0, 0) if self.options.without else (6, 1, 1)
        end = self.choose.choices((self.cut_power, self.rename_over, self.copy_in_place), weights)[0]
        if end == self.cut_power:
            self.kill_all()
            self.committed += self.revision_on_disk() - before
            self.cut_power()
        else:
            self.reindexer.kill()
            self.pause_writers()
            self.committed += self.revision() - before
            end(backup)
        if not self.findings:
            self.check()
        if os.path.exists(backup):
            os.remove(backup)

    def execute(self):
        self.make()
        self.check()
        self.searcher.start()
        rounds = max(1, round(self.options.seconds / self.options.round))
        for _ in range(rounds):
            self.round()
            if self.findings:
                break
        self.kill_all()


def main():
    parser = argparse.ArgumentParser(description="Follows a SQLite file under faults, and checks every document.")
    parser.add_argument("--seconds", type=float, default=120, help="of faults, over all rounds")
    parser.add_argument("--round", type=float, default=8, help="seconds of faults before each check")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--lockstep", required=True, help="the program")
    parser.add_argument("--ledger", required=True, help="the library of sync_ledger.c")
    parser.add_argument("--elasticsearch", default=os.environ.get("LOCKSTEP_TEST_ELASTICSEARCH"))
    parser.add_argument("--folder", help="of the file and the logs, which stay; default: a temporary one")
    parser.add_argument("--without", choices=["syncs"], help="of lockstep count as never done: this has to be found")
    options = parser.parse_args()
    if not options.elasticsearch:
        parser.error("name an Elasticsearch, or set LOCKSTEP_TEST_ELASTICSEARCH (scripts/engine start elasticsearch-7.10)")
    with tempfile.TemporaryDirectory() as temporary:
        run = Run(options, options.folder or temporary)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            run.execute()
        except KeyboardInterrupt:
            run.note("ended before its time")
        finally:
            run.searcher.end()
            run.kill_all()
            run.index.delete()
    kills = sum(count for name, count in run.counts.items() if name.startswith("kill "))
    for name, count in [("transactions committed", run.committed), ("kills", kills), *sorted(run.counts.items()),
                        ("longest until equal", f"{run.longest:.1f} s"), ("findings of any kind", len(run.findings))]:
        print(f"{name:<46}{count:>12}")
    for finding in run.findings:
        print("\n" + finding)
    print(f"\nseed {options.seed}")
    if options.without:
        return 0 if run.findings else 1
    return 1 if run.findings else 0


if __name__ == "__main__":
    sys.exit(main())
