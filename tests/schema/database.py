"""The PostgreSQL side of the schema tests: a database of one's own on the server that LOCKSTEP_TEST_POSTGRESQL names, and
psql sessions that stay open, so that tests can hold two transactions against each other. psql and the standard library
are all it needs."""
import json
import os
import re
import subprocess
import time
import unittest
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCHEMA = os.path.join(ROOT, "schema")
CONFIG = os.path.join(ROOT, "config")

# How long anything may take that is only waiting for another session.
DEADLINE_SECONDS = 30

_ERROR = re.compile(r"^(?:psql:[^ ]* )?(?:ERROR|FATAL):  ([0-9A-Z]{5}): (.*)$", re.MULTILINE)


def server_url():
    url = os.environ.get("LOCKSTEP_TEST_POSTGRESQL")
    if not url:
        raise unittest.TestCase.failureException(
            "LOCKSTEP_TEST_POSTGRESQL names no server; start one and name it: "
            "export LOCKSTEP_TEST_POSTGRESQL=$(scripts/postgresql start --data /tmp/lockstep-postgresql)")
    return url


class SqlError(Exception):
    """An error of the server: `code` is its SQLSTATE, `text` its message."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


class Session:
    """One psql, one connection. `run` answers with what psql prints; `start` and `finish` are its two halves, for a statement
    that is going to wait for somebody."""

    def __init__(self, url):
        command = ["psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", url]
        self._psql = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      text=True, encoding="utf-8", env={**os.environ, "PGCLIENTENCODING": "UTF8"})
        self._marker = 0
        self.run("\\set VERBOSITY verbose\n\\set SHOW_CONTEXT never")
        self.pid = int(self.run("select pg_backend_pid()"))

    def start(self, sql):
        self._marker += 1
        self._psql.stdin.write(f"{sql.rstrip().rstrip(';')}\n;\n\\echo end-{self._marker}\n")
        self._psql.stdin.flush()

    def finish(self):
        lines = []
        for line in self._psql.stdout:
            if line == f"end-{self._marker}\n":
                break
            lines.append(line)
        else:
            raise AssertionError("psql ended: " + "".join(lines))
        output = "".join(lines)
        error = _ERROR.search(output)
        if error:
            raise SqlError(*error.groups())
        return output.rstrip("\n")

    def run(self, sql):
        self.start(sql)
        return self.finish()

    def rows(self, query):
        """The rows of a query, each as a dictionary."""
        return json.loads(self.run(f"select coalesce(json_agg(row_to_json(q)), '[]') from (\n{query}\n) q"))

    def value(self, query):
        (row,) = self.rows(query)
        (value,) = row.values()
        return value

    def close(self):
        self._psql.stdin.close()
        self._psql.stdout.close()
        self._psql.wait()


def literal(value):
    """A value as SQL writes it."""
    if value is None:
        return "null"
    if isinstance(value, (list, tuple)):
        return "array[" + ", ".join(literal(v) for v in value) + "]"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)


class DatabaseTest(unittest.TestCase):
    """A test case with a database that holds what the files in `install` make, from `schema/`; it is dropped in the end."""

    install = ()

    @classmethod
    def setUpClass(cls):
        server = server_url()
        cls.database = f"lockstep_schema_test_{os.getpid()}_{cls.__name__.lower()}"
        cls._server = Session(server)
        cls.addClassCleanup(cls._server.close)
        cls._server.run(f"create database {cls.database} encoding 'UTF8' template template0")
        cls.addClassCleanup(cls._server.run, f"drop database {cls.database} with (force)")
        parts = urllib.parse.urlsplit(server)
        cls.url = urllib.parse.urlunsplit(parts._replace(path="/" + cls.database))
        for file in cls.install:
            cls.psql("--file", os.path.join(SCHEMA, file))
        cls.sql = cls.session()

    @classmethod
    def psql(cls, *arguments):
        done = subprocess.run(["psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", cls.url, *arguments], text=True,
                              capture_output=True)
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f"psql {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    @classmethod
    def session(cls):
        session = Session(cls.url)
        cls.addClassCleanup(session.close)
        return session

    def assert_error(self, code, text, sql, session=None):
        with self.assertRaises(SqlError, msg=sql) as caught:
            (session or self.sql).run(sql)
        self.assertEqual((caught.exception.code, caught.exception.text), (code, text), sql)

    def wait_until_blocked(self, session):
        """Returns when what the session has started waits for a lock."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while self.sql.run(f"select cardinality(pg_blocking_pids({session.pid})), pg_sleep(0.002)")[:1] == "0":
            self.assertLess(time.monotonic(), deadline, "it doesn't wait for anybody")
