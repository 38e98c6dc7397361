"""Swaps and ways back of an alias under load: writers write, searchers search without a pause, and `lockstep reindex` moves the
alias from one generation to the other and back, again and again. No search may fail, find too few or see both generations, no
statement of a writer may fail, and after each round both generations have to equal the view. Run by scripts/reindexes.

Each round fills a new generation, and makes it hard: the service is killed, the disk is at its flood stage, so that no index
takes a write, or several operators are at work. With servers of its own, PostgreSQL and Elasticsearch are killed, too, in each state
that a reindex goes through. Shares no code with the program.
"""
import argparse
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tests", "schema"))
from database import Session, SqlError  # noqa: E402 (its folder is known only now)

import attacks  # noqa: E402

PATIENCE = 300  # seconds, for whatever the machine is slow at
# Every second item is counted: nobody deletes it, so a search for those always finds as many. Most deletes hit documents that the
# filling has not reached.
TABLES = """
create table owner (id integer primary key, name text not null);
create table item (id integer primary key, title text not null, owner_id integer not null references owner, counted boolean not null);
create index on item (owner_id);
create view items as select i.id as _id, i.owner_id as _owner_id, i.title, i.counted, o.name as owner
  from item as i join owner as o on o.id = i.owner_id;
insert into owner select n, 'owner ' || n from generate_series(0, 19) as n;
insert into item select n, 'title ' || n, n % 20, n % 2 = 0 from generate_series(1, {items}) as n;
"""
CONFIGURATION = """pipeline = "{alias}"
[source]
url = "{database}"
[elasticsearch]
urls = ["{elasticsearch}"]
[http]
listen = "127.0.0.1:0"
[replication]
fan_out_threshold = 100
chunk_documents = 100
[[index]]
alias = "{alias}"
mapping = "mapping.json"
view = "public.items"
[[index.track]]
table = "public.item"
[[index.track]]
table = "public.owner"
column = "_owner_id"
"""
HARDSHIPS = ("several operators", "kill -9 of lockstep", "a disk at its flood stage")
HARDSHIPS_OF_SERVERS = ("kill -9 of PostgreSQL", "kill -9 of Elasticsearch")


class Elasticsearch:
    def __init__(self, url):
        self.url = url

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def generations(self, alias):
        return sorted(self.ask("GET", f"/{alias}-*?expand_wildcards=all"))

    def documents(self, index):
        self.ask("POST", f"/{index}/_refresh")
        found = self.ask("POST", f"/{index}/_search", {"size": 10000, "sort": ["_doc"], "track_total_hits": True})["hits"]
        assert found["total"]["value"] == len(found["hits"]), "more documents than one page has"
        return {hit["_id"]: hit["_source"] for hit in found["hits"]}


class Crowd:
    """Threads that do something again and again until the end; pause() returns when none is at it."""

    def __init__(self, steps):
        self.ended, self.paused = threading.Event(), threading.Event()
        self.locks = [threading.Lock() for _ in steps]
        self.threads = [threading.Thread(target=self.work, args=(step, lock), daemon=True) for step, lock in zip(steps, self.locks)]
        for thread in self.threads:
            thread.start()

    def work(self, step, lock):
        while not self.ended.is_set():
            with lock:
                if not self.paused.is_set():
                    step()
            time.sleep(0.01)

    def pause(self):
        self.paused.set()
        for lock in self.locks:
            with lock:
                pass

    def go_on(self):
        self.paused.clear()

    def end(self):
        self.ended.set()
        for thread in self.threads:
            thread.join()


class Tally:
    def __init__(self):
        self.lock, self.counts, self.faults = threading.Lock(), collections.Counter(), []

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] += number

    def fault(self, text):
        with self.lock:
            self.faults.append(text)
        say(f"FOUND: {text}")

    def tell(self):
        """Prints what was counted and how much was found; returns the exit code."""
        for what, count in sorted(self.counts.items()):
            print(f"{what}: {count:,}")
        print(f"found: {len(self.faults)}")
        return 1 if self.faults else 0


def say(text):
    print(f"{time.monotonic() - BEGUN:8.1f} s  {text}", file=sys.stderr, flush=True)


def search_step(elasticsearch, alias, counted, tally, away):
    query = {"size": 0, "track_total_hits": True, "query": {"term": {"counted": True}}, "aggs": {"indices": {"terms": {"field": "_index"}}}}

    def step():
        try:
            found = elasticsearch.ask("POST", f"/{alias}/_search", query)
        except (OSError, ValueError) as error:
            return None if away.is_set() else tally.fault(f"a search failed: {error}")
        tally.count("searches")
        indices = [bucket["key"] for bucket in found["aggregations"]["indices"]["buckets"]]
        if found["_shards"]["failed"] and away.is_set():
            return None
        if found["_shards"]["failed"] or found["hits"]["total"]["value"] != counted or len(indices) != 1:
            tally.fault(f"a search found {found['hits']['total']['value']} of {counted} in {indices}, {found['_shards']}")
        return None

    return step


def write_step(database, number, items, tally, seed, away):
    """Each writer has rows of its own, so that none waits for another, and one of them renames owners."""
    sessions, chosen = [Session(database)], random.Random(seed)
    mine = [item for item in range(1, items + 1) if item // 2 % 3 == number]
    gone = {}

    def statement():
        item = chosen.choice(mine)
        if gone and (item in gone or len(gone) > len(mine) // 4):
            back = item if item in gone else next(iter(gone))
            del gone[back]
            return f"insert into item values ({back}, 'back', {back % 20}, false)"
        if item % 2 == 1:
            gone[item] = True
            return f"delete from item where id = {item}"
        if number == 0 and chosen.random() < 0.02:
            return f"update owner set name = 'owner {chosen.random()}' where id = {chosen.randrange(20)}"
        return f"update item set title = 'title {chosen.random()}' where id = {item}"

    def step():
        try:
            sessions[0] = sessions[0] or Session(database)
            sessions[0].run(statement())
            tally.count("statements of writers")
        except (SqlError, AssertionError, OSError) as error:
            if not away.is_set():
                tally.fault(f"a writer failed: {error}")
            sessions[0] = None

    return step


class World:
    def __init__(self, options, folder):
        self.options, self.folder, self.tally = options, folder, Tally()
        self.elasticsearch = Elasticsearch(options.elasticsearch)
        self.random = random.Random(options.seed)
        self.alias = f"reindexes-{uuid.uuid4().hex[:8]}"
        name = self.alias.replace("-", "_")
        self.server = Session(options.postgresql)
        self.server.run(f"create database {name}")
        self.database = urllib.parse.urlsplit(options.postgresql)._replace(path=f"/{name}").geturl()
        self.session = Session(self.database)
        self.session.run(TABLES.format(items=options.items))
        self.configuration = os.path.join(folder, "lockstep.toml")
        self.log = open(os.path.join(folder, "lockstep.log"), "ab")
        with open(self.configuration, "w") as file:
            file.write(CONFIGURATION.format(alias=self.alias, database=self.database, elasticsearch=options.elasticsearch))
        self.service = None
        self.postgresql_away, self.elasticsearch_away = threading.Event(), threading.Event()

    def close(self):
        self.stop_service(signal.SIGTERM)
        for index in self.elasticsearch.generations(self.alias):
            self.elasticsearch.ask("DELETE", f"/{index}")
        self.session.close()
        self.server.run(f"drop database {urllib.parse.urlsplit(self.database).path[1:]} with (force)")
        self.server.close()
        self.log.close()

    def start(self, *arguments):
        return subprocess.Popen([self.options.lockstep, *arguments, "-c", self.configuration], stdout=self.log, stderr=self.log)

    def start_service(self):
        self.service = self.start("run")

    def stop_service(self, how):
        if self.service:
            self.service.send_signal(how)
            self.service.wait()
            self.service = None

    def must(self, *arguments, meanwhile=None):
        command = self.start(*arguments)
        try:
            if meanwhile:
                meanwhile()
            code = command.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            command.kill()
            command.wait()
            code = f"nothing within {PATIENCE} s"
        if code != 0:
            with open(self.log.name, "rb") as log:
                tail = log.read()[-2000:].decode(errors="replace")
            raise RuntimeError(f"lockstep {' '.join(arguments)} ended with {code}:\n{tail}")

    def set_mapping(self, number):
        settings = {"number_of_shards": 2, "number_of_replicas": 0, "refresh_interval": "100ms"}
        title = {"type": ("text", "keyword")[number % 2]}
        mappings = {"dynamic": False, "properties": {"title": title, "counted": {"type": "boolean"}}}
        with open(os.path.join(self.folder, "mapping.json"), "w") as file:
            json.dump({"settings": settings, "mappings": mappings}, file)

    def reindex(self):
        """Of the alias; all of it empty while there is none."""
        for _ in range(2):
            try:
                rows = self.session.rows("select state, live_name, coalesce(wanted, '') as wanted from lockstep.reindex")
                return rows[0] if rows else {"state": "", "live_name": "", "wanted": ""}
            except (SqlError, AssertionError, OSError):
                self.session = Session(self.database)  # PostgreSQL was killed
        raise RuntimeError("PostgreSQL does not answer")

    def stands_for(self):
        at = list(self.elasticsearch.ask("GET", f"/_alias/{self.alias}"))
        if len(at) != 1:
            self.tally.fault(f"the alias stands for {at}")
        return at

    def kill_postgresql(self):
        self.postgresql_away.set()
        self.server_script("postgresql", "restart", "--immediate")
        self.session = Session(self.database)
        time.sleep(0.1)  # whoever was at it has noticed by then
        self.postgresql_away.clear()

    def kill_elasticsearch(self):
        self.elasticsearch_away.set()
        self.server_script("engine", "stop", "--kill")
        self.server_script("engine", "start", self.options.engine)
        health = f"/_cluster/health/{self.alias}?wait_for_status=green&timeout={PATIENCE}s"
        self.elasticsearch.ask("GET", health)
        self.elasticsearch.ask("POST", f"/{self.alias}/_refresh")
        self.elasticsearch_away.clear()

    def server_script(self, kind, *arguments):
        folder = os.path.join(self.options.servers, kind)
        subprocess.run([os.path.join(ROOT, "scripts", kind), *arguments, "--data", folder], check=True, capture_output=True)

    def kill(self):
        time.sleep(self.random.uniform(0, 1.5))
        self.stop_service(signal.SIGKILL)
        self.start_service()
        self.tally.count("kill -9 of lockstep")

    def flood(self):
        """What Elasticsearch does itself when a disk is full."""
        time.sleep(self.random.uniform(0.2, 1))
        block = {"index.blocks.read_only_allow_delete": True}
        self.elasticsearch.ask("PUT", f"/{self.alias}-*/_settings?expand_wildcards=all", block)
        time.sleep(self.random.uniform(0.5, 3))
        for _ in range(20):  # one may have been made meanwhile
            indices = self.elasticsearch.generations(self.alias)
            freed = {"index.blocks.read_only_allow_delete": None}
            self.elasticsearch.ask("PUT", f"/{','.join(indices)}/_settings", freed)
            if indices == self.elasticsearch.generations(self.alias):
                break
        self.tally.count("disks at their flood stage")

    def swap(self, *arguments, meanwhile=None):
        begun = time.monotonic()
        before = self.stands_for()
        self.must("reindex", self.alias, *arguments, meanwhile=meanwhile)
        after = self.stands_for()
        if after == before:
            self.tally.fault(f"the alias stands for {after}, and stood for {before}")
        self.tally.count("swaps and ways back")
        say(f"{self.tally.counts['swaps and ways back']}: {after[0]} after {time.monotonic() - begun:.1f} s")

    def compare(self):
        self.must("wait")
        self.must("verify")  # of both generations
        expected = {str(row.pop("_id")): {key: value for key, value in row.items() if not key.startswith("_")}
                    for row in self.session.rows("select * from items")}
        for index in self.elasticsearch.generations(self.alias):
            deadline = time.monotonic() + PATIENCE
            while (found := self.elasticsearch.documents(index)) != expected and time.monotonic() < deadline:
                time.sleep(0.2)
            wrong = [key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)]
            self.tally.count("documents compared", len(expected))
            if wrong:
                self.tally.fault(f"{len(wrong)} documents of {index} differ from the view, {sorted(wrong)[:5]} for instance")


def run_round(world, number, writers, swaps):
    hardships = HARDSHIPS + (HARDSHIPS_OF_SERVERS if world.options.servers else ())
    hardship = hardships[number % len(hardships)]
    say(f"round {number}: {hardship}")
    if hardship == "several operators":
        attacks.run_rivals(world, number, writers)
        if world.reindex()["state"]:
            world.must("reindex", world.alias, "--finish", "--yes")
        return None
    if hardship in HARDSHIPS_OF_SERVERS:
        kill = world.kill_postgresql if "PostgreSQL" in hardship else world.kill_elasticsearch
        return attacks.run_kills(world, number, writers, hardship, kill)
    kills = world.kill if "kill" in hardship else None
    world.set_mapping(number)
    world.swap("--keep", "1h", meanwhile=world.flood if "disk" in hardship else kills)
    for back in range(swaps - 1):
        world.swap("--back", meanwhile=kills if back % 2 == 0 else None)
    writers.pause()
    world.compare()
    writers.go_on()
    # The generation that goes must not be the one whose mapping the file has.
    if swaps % 2 == 0:
        world.swap("--back")
    world.must("reindex", world.alias, "--finish", "--yes")
    left = world.elasticsearch.generations(world.alias)
    if len(left) != 1:
        world.tally.fault(f"after the round there are {left}")
    return None


def run(options, folder):
    world = World(options, folder)
    crowds = []
    try:
        world.set_mapping(1)
        world.must("apply", "--yes")
        world.must("run", "--until-caught-up")
        world.elasticsearch.ask("POST", f"/{world.alias}/_refresh")
        world.start_service()
        writers = Crowd([write_step(world.database, number, options.items, world.tally, options.seed + number, world.postgresql_away)
                         for number in range(3)])
        search = search_step(world.elasticsearch, world.alias, options.items // 2, world.tally, world.elasticsearch_away)
        searchers = Crowd([search] * options.searchers)
        crowds = [writers, searchers]
        number = 0
        while (left := options.swaps - world.tally.counts["swaps and ways back"]) > 0 and not world.tally.faults:
            run_round(world, number, writers, min(left, options.swaps_of_a_round))
            number += 1
    finally:
        for crowd in crowds:
            crowd.end()
        world.close()
    return world.tally.tell()


def main():
    parser = argparse.ArgumentParser(description="Moves an alias from generation to generation under load, and checks every search.")
    parser.add_argument("--swaps", type=int, default=200)
    parser.add_argument("--swaps-of-a-round", type=int, default=9)
    parser.add_argument("--items", type=int, default=6000, help="rows at the beginning, at most 10,000")
    parser.add_argument("--searchers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--servers", help="the folder whose servers may be killed: postgresql and engine, by scripts/postgresql and engine")
    parser.add_argument("--engine", help="the name of that engine")
    parser.add_argument("--lockstep", required=True)
    parser.add_argument("--postgresql", default=os.environ.get("LOCKSTEP_TEST_POSTGRESQL"))
    parser.add_argument("--elasticsearch", default=os.environ.get("LOCKSTEP_TEST_ELASTICSEARCH"))
    options = parser.parse_args()
    if not options.postgresql or not options.elasticsearch:
        parser.error("name both servers, or let scripts/reindexes start them")
    with tempfile.TemporaryDirectory() as folder:
        return run(options, folder)


BEGUN = time.monotonic()
if __name__ == "__main__":
    sys.exit(main())
