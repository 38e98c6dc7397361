"""The tools that are compared: how each is prepared, started and stopped. Each fills its index first, and follows changes then."""
import json
import os
import pathlib
import socket
import subprocess

from processes import Process, cpu_seconds, peak_memory
from world import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROPERTIES = {
    "id": {"type": "long"}, "title": {"type": "text"}, "body": {"type": "text"}, "created_at": {"type": "date"},
    "user": {"properties": {"id": {"type": "long"}, "name": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}}}
MAPPING = {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": PROPERTIES}}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(command, **more):
    """To its end. Raises RuntimeError with what it said unless that is 0."""
    ran = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **more)
    if ran.returncode:
        raise RuntimeError(f"{command[0]} ended with {ran.returncode}:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")


class Tool:
    """`folder` is for its files; `peers` has what was installed. settings() may change between stop() and start()."""
    name = ""
    variants = ("",)  # under which latencies are measured; the first one holds for all else

    def __init__(self, world, folder, peers):
        self.world, self.folder, self.peers = world, folder, peers
        self.variant = self.variants[0]
        self.processes = []

    def prepare(self):
        """Index, triggers, slot: what is made once and is not timed."""
        self.world.make_index(MAPPING)

    def command(self):
        raise NotImplementedError

    def environment(self):
        return dict(os.environ)

    def start(self):
        self.processes.append(Process([str(part) for part in self.command()], self.folder / f"{self.name}.log",
                                      env=self.environment(), cwd=self.folder))

    def stop(self):
        for process in reversed(self.processes):
            process.stop()
        self.processes = []

    def close(self):
        """Ends all that belongs to it."""
        self.stop()

    def running(self):
        return self.processes

    def require_running(self):
        for process in self.running():
            process.require_running()

    def cpu(self):
        return sum(cpu_seconds(process.pid) for process in self.running())

    def memory(self):
        return sum(peak_memory(process.pid) for process in self.running())


class Lockstep(Tool):
    name = "Lockstep"

    def prepare(self):
        (self.folder / "blog.json").write_text(json.dumps(MAPPING))
        self.configuration = self.folder / "lockstep.toml"
        self.configuration.write_text(f"""
[source]
url = "{self.world.url}"
[elasticsearch]
urls = ["{self.world.elasticsearch.url}"]
[[index]]
alias = "{self.world.index}"
mapping = "blog.json"
view = "blog.documents"
[[index.track]]
table = "blog.posts"
[[index.track]]
table = "blog.users"
column = "_user_id"
""")
        self.program = os.environ.get("LOCKSTEP_TEST_PROGRAM", str(ROOT / "build/lockstep"))
        run([self.program, "apply", "--yes", "-c", self.configuration])

    def command(self):
        return [self.program, "run", "-c", self.configuration]


class PgSync(Tool):
    """With a Redis of its own, which runs on while the tool is stopped: it keeps there what it has not written yet. It gathers
    notifications until there are 500, or none for POLL_TIMEOUT seconds; the second variant has that so short that single changes are
    not kept."""
    name = "PGSync"
    variants = ("", "tuned")
    redis = None

    def prepare(self):
        super().prepare()
        self.schema = self.folder / "schema.json"
        user = {"table": "users", "schema": "blog", "label": "user", "columns": ["id", "name"],
                "relationship": {"variant": "object", "type": "one_to_one", "foreign_key": {"child": ["id"], "parent": ["user_id"]}}}
        self.schema.write_text(json.dumps([{
            "database": self.world.database, "index": self.world.index,
            "nodes": {"table": "posts", "schema": "blog", "columns": ["id", "title", "body", "created_at"], "children": [user]}}]))
        self.redis_port = free_port()
        self.redis = Process(["redis-server", "--bind", "127.0.0.1", "--port", str(self.redis_port), "--save", "", "--appendonly", "no",
                              "--dir", str(self.folder)], self.folder / "redis.log")
        wait_until(self._redis_answers, "Redis answers", 0.05, self.redis.require_running)
        run([*self._program("bootstrap"), "--config", self.schema], env=self.environment(), cwd=self.folder)

    def environment(self):
        postgresql, elasticsearch = self.world.postgresql, self.world.elasticsearch
        own = {"PG_HOST": postgresql.hostname, "PG_PORT": str(postgresql.port), "PG_USER": postgresql.username,
               "PG_DATABASE": self.world.database,  # instead of one that is called postgres
               "ELASTICSEARCH": "False", "OPENSEARCH": "True",  # its client for Elasticsearch refuses 7.10; that for OpenSearch works
               "ELASTICSEARCH_HOST": elasticsearch.host, "ELASTICSEARCH_PORT": str(elasticsearch.port),
               "ELASTICSEARCH_TIMEOUT": "600",  # it ends after 10 s otherwise, which a busy machine takes now and then
               "REDIS_HOST": "127.0.0.1", "REDIS_PORT": str(self.redis_port), "REDIS_SOCKET_TIMEOUT": "60",
               "CHECKPOINT_PATH": str(self.folder)}
        if self.variant == "tuned":
            own["POLL_TIMEOUT"] = "0.005"
        return {**super().environment(), **own}

    def command(self):
        return [*self._program("pgsync"), "--config", self.schema, "--daemon"]

    def _program(self, name):
        return [self.peers / "pgsync/bin/python", self.peers / "pgsync/bin" / name]

    def _redis_answers(self):
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", self.redis_port)) == 0

    def running(self):
        return [*self.processes, *([self.redis] if self.redis else [])]

    def stop(self):
        """Puts back what it last knew of its place: it writes that file in place, and cannot start from one that SIGTERM left empty."""
        known = {path: path.read_text() for path in self._checkpoints()}
        super().stop()
        for path in self._checkpoints():
            if not path.read_text() and known.get(path):
                path.write_text(known[path])

    def close(self):
        super().close()
        if self.redis:
            self.redis.stop()

    def _checkpoints(self):
        return [path for path in self.folder.glob(".*") if path.is_file()]


class Debezium(Tool):
    """Debezium's engine in a Java program that reads each changed row again with its join: Replicator.java."""
    name = "Debezium"

    def prepare(self):
        super().prepare()
        postgresql = self.world.postgresql
        offsets = self.folder / "offsets"
        self.properties = self.folder / "debezium.properties"
        self.properties.write_text("\n".join(f"{key}={value}" for key, value in {
            "name": "peers", "topic.prefix": "peers", "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore", "offset.storage.file.filename": offsets,
            "offset.flush.interval.ms": 1000, "database.hostname": postgresql.hostname, "database.port": postgresql.port,
            "database.user": postgresql.username, "database.password": "none", "database.dbname": self.world.database,
            "table.include.list": "blog.users,blog.posts", "plugin.name": "pgoutput", "publication.autocreate.mode": "filtered",
            "slot.name": self.world.database, "snapshot.mode": "initial", "converter.schemas.enable": "false",
            "poll.interval.ms": 10, "max.batch.size": 4096, "max.queue.size": 16384}.items()) + "\n")

    def command(self):
        postgresql = self.world.postgresql
        return ["java", "-cp", f"{self.peers}/debezium/classes:{self.peers}/debezium/jars/*", "Replicator", self.properties,
                f"jdbc:postgresql://{postgresql.hostname}:{postgresql.port}/{self.world.database}?user={postgresql.username}",
                f"{self.world.elasticsearch.url}/{self.world.index}/_bulk"]


TOOLS = (Lockstep, PgSync, Debezium)
