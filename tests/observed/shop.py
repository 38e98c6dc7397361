"""A pipeline of its own on the servers under test, and `lockstep run` that serves HTTP."""
import json
import os
import signal
import subprocess
import tempfile
import unittest
import urllib.parse
import urllib.request
import uuid

from browser import free_port, wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("LOCKSTEP_TEST_PROGRAM", os.path.join(ROOT, "build", "lockstep"))

CONFIGURATION = """
pipeline = "shop"
[source]
url = "{database}"
[elasticsearch]
urls = ["{address}"]
{more}
[http]
listen = "127.0.0.1:{port}"
[[index]]
alias = "{name}"
mapping = "mapping.json"
view = "public.products"
[[index.track]]
table = "public.product"
"""
# A price is a number; the table takes any text.
MAPPING = {"settings": {"number_of_shards": 1, "number_of_replicas": 0},
           "mappings": {"properties": {"price": {"type": "integer"}}}}
TABLES = """
create table public.product (id integer primary key, price text);
create view public.products as select id as _id, price from public.product;
insert into public.product select n, n from generate_series(1, 50) as n;
"""


def server(variable, command):
    url = os.environ.get(variable)
    if not url:
        raise unittest.TestCase.failureException(f"{variable} names no server; start one with `{command}`, and name it")
    return url


def psql(url, statements):
    subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", url], input=statements, text=True, check=True)


class Shop:
    def __init__(self, address=None, more=""):
        """`address`: another way to Elasticsearch; `more`: further keys of [elasticsearch]."""
        postgresql = server("LOCKSTEP_TEST_POSTGRESQL", "scripts/postgresql start")
        self.engine = server("LOCKSTEP_TEST_ELASTICSEARCH", "scripts/engine start elasticsearch-7.10")
        self.address, self.more = address or self.engine, more
        self.name = f"shop_{uuid.uuid4().hex[:12]}"
        self.postgresql = postgresql
        psql(postgresql, f"create database {self.name}")
        self.database = urllib.parse.urlsplit(postgresql)._replace(path=f"/{self.name}").geturl()
        self.folder = tempfile.TemporaryDirectory()
        self.service = None
        with open(os.path.join(self.folder.name, "mapping.json"), "w") as file:
            json.dump(MAPPING, file)
        self.config, self.url = self.configure("shop")
        self.sql(TABLES)
        subprocess.run([PROGRAM, "apply", "--yes", "-c", self.config], check=True, capture_output=True)
        self.start()

    def configure(self, name):
        """A configuration file of the pipeline, and where the service of that file answers."""
        port = free_port()
        config = os.path.join(self.folder.name, f"{name}.toml")
        with open(config, "w") as file:
            file.write(CONFIGURATION.format(database=self.database, address=self.address, more=self.more, port=port,
                                            name=self.name))
        return config, f"http://127.0.0.1:{port}/"

    def sql(self, statements):
        psql(self.database, statements)

    def start(self):
        self.service = self.run(self.config)
        if not wait_until(self.follows, 60):
            raise AssertionError(f"the service does not follow: {self.status()}")

    @staticmethod
    def run(config):
        """`lockstep run`, in the background."""
        return subprocess.Popen([PROGRAM, "run", "-c", config], stderr=subprocess.DEVNULL)

    def kill(self):
        self.service.send_signal(signal.SIGKILL)
        self.service.wait()

    def status(self):
        try:
            with urllib.request.urlopen(self.url + "status.json", timeout=5) as reply:
                return json.load(reply)
        except OSError:
            return {}

    def follows(self):
        return self.status().get("state") == "following"

    def close(self):
        if self.service:
            self.kill()
        psql(self.postgresql, f"drop database {self.name} with (force)")
        urllib.request.urlopen(urllib.request.Request(f"{self.engine}/{self.name}-000001", method="DELETE"))
        self.folder.cleanup()
