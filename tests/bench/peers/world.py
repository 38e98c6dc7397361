"""Where the tools are measured: a database of the blog, an index, writers, and probes that see what has arrived."""
import concurrent.futures
import http.client
import json
import pathlib
import re
import subprocess
import threading
import time
import urllib.parse

import psycopg2

from processes import cpu_seconds

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 1800  # seconds, for any single step
TEMPLATE = "peers_template"
BULK_BYTES = 1 << 20
BULKS_IN_FLIGHT = 2


class Elasticsearch:
    """One connection; for one thread."""

    def __init__(self, url):
        self.url = url
        parts = urllib.parse.urlsplit(url)
        self.host, self.port = parts.hostname, parts.port
        self._connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)

    def ask(self, method, path, body=None, may_be=()):
        """The reply as JSON. Raises RuntimeError unless its status is 2xx or one of `may_be`."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        kind = "application/x-ndjson" if "/_bulk" in path else "application/json"
        self._connection.request(method, path, body, {"content-type": kind})
        reply = self._connection.getresponse()
        text = reply.read()
        if reply.status // 100 != 2 and reply.status not in may_be:
            raise RuntimeError(f"{method} {path}: {reply.status} {text[:1000]!r}")
        return json.loads(text)

    def version(self):
        number = self.ask("GET", "/").get("version", {})
        return f"{number.get('distribution', 'elasticsearch')} {number.get('number', '')}".strip()

    def let_merges_end(self):
        def ended():
            reply = self.ask("GET", "/_stats/merge")
            # Nothing is said of shards that are just being made.
            return not reply["indices"] or reply["_all"]["total"].get("merges", {}).get("current", 1) == 0

        wait_until(ended, "merges end", 0.1)


class NeverSo(Exception):
    """What was waited for has not happened."""


def wait_until(condition, what, pause, require=lambda: None, patience=PATIENCE):
    """Asks until it is so; calls `require`, which may raise, meanwhile. Returns the seconds that it took. Raises NeverSo after
    `patience` seconds."""
    begun = time.monotonic()
    while not condition():
        require()
        if time.monotonic() - begun > patience:
            raise NeverSo(f"not within {patience} s: {what}")
        time.sleep(pause)
    return time.monotonic() - begun


class World:
    """A database of its own, made from the template, and an index of its own, for one tool in one round."""

    def __init__(self, server_url, elasticsearch_url, name, posts, folder):
        self.server_url, self.posts, self.folder = server_url, posts, folder
        self.database = f"peers_{name}"
        self.index = f"peers-{name}"
        self.url = server_url.rpartition("/")[0] + "/" + self.database
        self.postgresql = urllib.parse.urlsplit(self.url)
        self.elasticsearch = Elasticsearch(elasticsearch_url)
        self.marks = 0
        with_server(server_url, f"drop database if exists {self.database}")
        with_server(server_url, f"create database {self.database} template {TEMPLATE}")
        self._connection = psycopg2.connect(self.url)
        self._connection.autocommit = True
        self.postmaster = int(pathlib.Path(f"/proc/{self.value('select pg_backend_pid()')}/stat").read_text().rpartition(")")[2].split()[1])

    def close(self):
        """Drops the database with its replication slots, and the index."""
        for (slot,) in self.rows("select slot_name from pg_replication_slots where database = current_database()"):
            active = f"select active from pg_replication_slots where slot_name = '{slot}'"
            wait_until(lambda ask=active: not self.value(ask), f"{slot} is free", 0.1)
            self.rows(f"select pg_drop_replication_slot('{slot}')")
        self._connection.close()
        with_server(self.server_url, f"drop database {self.database} with (force)")
        self.elasticsearch.ask("DELETE", f"/{self.index}*", may_be=(404,))

    def rows(self, sql):
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def value(self, sql):
        return self.rows(sql)[0][0]

    def make_index(self, mapping):
        self.elasticsearch.ask("DELETE", f"/{self.index}*", may_be=(404,))
        self.elasticsearch.ask("PUT", f"/{self.index}", mapping)

    def postgresql_cpu(self):
        return cpu_seconds(self.postmaster)

    # Writers

    def write(self, changes, word):
        """So many updates of single rows by two writers, whose titles then contain `word`; returns changes a second."""
        script = self.folder / "updates.sql"
        script.write_text(f"\\set id random(1, {self.posts - self.posts // 100})\n"
                          f"update blog.posts set title = '{word} ' || :client_id || ' ' || clock_timestamp() where id = :id;\n")
        run = subprocess.run(["pgbench", "--no-vacuum", "--protocol=prepared", f"--file={script}", "--client=2",
                              f"--transactions={changes // 2}", self.url], capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(f"pgbench: {run.stderr}")
        return float(re.search(r"tps = ([\d.]+)", run.stdout)[1])

    # Probes

    def operations(self):
        reply = self.elasticsearch.ask("GET", f"/{self.index}/_stats/indexing", may_be=(404,))
        return reply["_all"]["primaries"].get("indexing", {}).get("index_total", 0) if "_all" in reply else 0

    def count(self, query):
        """Documents that a search finds, after a refresh."""
        self.elasticsearch.ask("POST", f"/{self.index}/_refresh")
        return self.elasticsearch.ask("POST", f"/{self.index}/_count", {"query": query})["count"]

    def titles(self, ids, elasticsearch=None):
        """{id: title} of the documents that are there, by GET."""
        reply = (elasticsearch or self.elasticsearch).ask("POST", f"/{self.index}/_mget?_source_includes=title",
                                                          {"ids": [str(number) for number in ids]})
        return {int(each["_id"]): each["_source"]["title"] for each in reply["docs"] if each.get("found")}

    def mark(self):
        """Changes a post that no writer changes; returns its id and its new title."""
        self.marks += 1
        title = f"mark {self.marks}"
        self.rows(f"update blog.posts set title = '{title}' where id = {self.posts}")
        return self.posts, title

    def await_mark(self, mark, require, patience=PATIENCE):
        """Seconds until it has arrived."""
        return wait_until(lambda: self.titles([mark[0]]).get(mark[0]) == mark[1], "a single change arrives", 0.002, require, patience)

    def await_all(self, word, mark, begun, require):
        """Seconds from `begun` until the mark, and all that writers wrote with `word`, have arrived: a tool may take the last
        change first."""
        self.await_mark(mark, require)
        seconds = time.monotonic() - begun
        wanted = self.value(f"select count(*) from blog.posts where title like '{word} %'")
        while self.count({"match": {"title": word}}) < wanted:
            require()
            seconds = time.monotonic() - begun
            if seconds > PATIENCE:
                raise NeverSo(f"not within {PATIENCE} s: all changes with {word} arrive")
            time.sleep(0.05)
        return seconds

    def settle(self, require):
        """Changes a post every ten seconds until one of the changes has arrived: then the tool follows, and is not busy with its
        start any more."""
        begun = time.monotonic()
        while time.monotonic() - begun < PATIENCE:
            try:
                self.await_mark(self.mark(), require, 10)
                return
            except NeverSo:
                continue
        raise NeverSo(f"not within {PATIENCE} s: the tool follows")

    def latencies(self, samples, per_second, make_change, require):
        """Milliseconds from each of `samples` changes, made at a steady rate, until a GET shows it.
        `make_change(number)` makes one, of another document each time, and returns (id, title, the time from which it counts)."""
        pending, found, lock, made = {}, [], threading.Lock(), threading.Event()

        def watch():
            elasticsearch = Elasticsearch(self.elasticsearch.url)
            while not made.is_set() or pending:
                with lock:
                    wanted = dict(pending)
                if not wanted:
                    time.sleep(0.0005)
                    continue
                there = self.titles(wanted, elasticsearch)
                now = time.monotonic()
                with lock:
                    for number, (title, begun) in wanted.items():
                        if there.get(number) == title:
                            del pending[number]
                            found.append(1000 * (now - begun))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        begun = time.monotonic()
        for i in range(samples):
            time.sleep(max(0, begun + i / per_second - time.monotonic()))
            number, title, since = make_change(i)
            with lock:
                pending[number] = (title, since)
        made.set()
        wait_until(lambda: not watcher.is_alive(), "all single changes arrive", 0.05, require)
        if len(found) != samples:
            raise RuntimeError(f"{len(found)} of {samples} single changes were seen")
        return found

    def change_one(self, i):
        """A change of one of the posts that no writer changes; it counts from its commit."""
        number = self.posts - 1 - i
        self.marks += 1
        title = f"single {self.marks}"
        self.rows(f"update blog.posts set title = '{title}' where id = {number}")
        return number, title, time.monotonic()

    def differences(self):
        """How many documents differ from their rows in title or user, are missing, or should not be there."""
        self.elasticsearch.ask("POST", f"/{self.index}/_refresh")
        wanted = {str(number): (title, name) for number, title, name in
                  self.rows("select p.id, p.title, u.name from blog.posts p join blog.users u on u.id = p.user_id")}
        differ = 0
        reply = self.elasticsearch.ask("POST", f"/{self.index}/_search?scroll=5m",
                                       {"size": 10000, "_source": ["title", "user.name"], "sort": ["_doc"]})
        while hits := reply["hits"]["hits"]:
            for hit in hits:
                source = hit["_source"]
                differ += wanted.pop(hit["_id"], None) != (source["title"], source["user"]["name"])
            reply = self.elasticsearch.ask("POST", "/_search/scroll", {"scroll": "5m", "scroll_id": reply["_scroll_id"]})
        return differ + len(wanted)

    # The ceiling

    def bodies(self, condition="true"):
        """The documents as bulk requests."""
        bodies, lines, size = [], [], 0
        for number, text in self.rows(f"select id, json from blog.rendered where {condition}"):
            line = f'{{"index":{{"_id":"{number}"}}}}\n{text}\n'.encode()
            lines.append(line)
            size += len(line)
            if size >= BULK_BYTES:
                bodies.append(b"".join(lines))
                lines, size = [], 0
        return bodies + ([b"".join(lines)] if lines else [])

    def send(self, bodies):
        """Sends bulk requests, several at once; returns the seconds until the last reply."""
        def send_some(some):
            elasticsearch = Elasticsearch(self.elasticsearch.url)
            for body in some:
                reply = elasticsearch.ask("POST", f"/{self.index}/_bulk?filter_path=errors", body)
                if reply["errors"]:
                    raise RuntimeError("a ready-made bulk was not taken")

        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor() as senders:
            list(senders.map(send_some, [bodies[i::BULKS_IN_FLIGHT] for i in range(BULKS_IN_FLIGHT)]))
        return time.monotonic() - begun


def with_server(server_url, sql):
    """Runs a statement outside of any transaction and of any of the databases; returns its rows."""
    connection = psycopg2.connect(server_url)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(sql)
        rows = cursor.fetchall() if cursor.description else []
    connection.close()
    return rows


def make_template(server_url, posts):
    """Makes the database that the others are copied from; returns PostgreSQL's version."""
    with_server(server_url, f"drop database if exists {TEMPLATE}")
    with_server(server_url, f"create database {TEMPLATE}")
    subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", "-v", f"posts={posts}", "-v", f"users={max(2, posts // 100)}",
                    "-f", str(HERE / "blog.sql"), server_url.rpartition("/")[0] + "/" + TEMPLATE], check=True)
    return with_server(server_url, "show server_version")[0][0].split()[0]
