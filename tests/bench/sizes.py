"""What a change takes on the disks: in the outbox, in PostgreSQL's WAL, in the list of a fan-out, in the index.

Prints one line for each. Sizes depend on the schema, not on the speed of the machine: here it is the blog of config/blog.toml.

Example: LOCKSTEP_TEST_POSTGRESQL=$(scripts/postgresql start --data /tmp/pg) \\
         LOCKSTEP_TEST_ELASTICSEARCH=$(scripts/engine start elasticsearch-7.10 --data /tmp/es) python3 tests/bench/sizes.py
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import urllib.parse
import urllib.request
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("LOCKSTEP_TEST_PROGRAM", str(ROOT / "build/lockstep"))


class Blog:
    """The example database with so many posts, in a database of its own."""

    def __init__(self, posts):
        self.name = f"sizes_{uuid.uuid4().hex[:8]}"
        self.server = os.environ["LOCKSTEP_TEST_POSTGRESQL"]
        self.engine = os.environ["LOCKSTEP_TEST_ELASTICSEARCH"]
        self.url = urllib.parse.urlsplit(self.server)._replace(path=f"/{self.name}").geturl()
        self.posts = posts
        self.folder = tempfile.TemporaryDirectory()
        config = (ROOT / "config/blog.toml").read_text()
        for old, new in (("postgresql:///blog", self.url), ("http://localhost:9200", self.engine), ('"blogposts"', f'"{self.name}"')):
            config = config.replace(old, new)
        (pathlib.Path(self.folder.name) / "blog.toml").write_text(config)
        (pathlib.Path(self.folder.name) / "blog.json").write_text((ROOT / "config/blog.json").read_text())

    def __enter__(self):
        self.psql(f"create database {self.name}", url=self.server)
        subprocess.run(["psql", "-qX", self.url, "-f", ROOT / "schema/blog/postgresql/install.sql"], check=True, capture_output=True)
        self.psql("insert into blog.users (name, email, dob) select 'user ' || n, n || '@example.org', '1980-01-01'"
                  f" from generate_series(1, {self.posts // 100}) as n;"
                  "insert into blog.blogposts (title, body, user_id) select w.six, w.forty, u.id"
                  " from (select id, row_number() over () as at from blog.users) as u, generate_series(1, 100),"
                  " lateral (select string_agg(substr(md5((at * n)::text), 1, 6), ' ') as forty,"
                  " substr(string_agg(substr(md5((at * n)::text), 1, 6), ' '), 1, 41) as six from generate_series(1, 40) as n) as w")
        return self

    def __exit__(self, *error):
        self.psql(f"drop database {self.name} with (force)", url=self.server)
        request = urllib.request.Request(f"{self.engine}/{self.name}-000001", method="DELETE")
        urllib.request.urlopen(request)
        self.folder.cleanup()

    def psql(self, statement, url=None):
        done = subprocess.run(["psql", "-qXAt", "-v", "ON_ERROR_STOP=1", url or self.url, "-c", statement],
                              capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def lockstep(self, *arguments):
        subprocess.run([PROGRAM, *arguments, "-c", f"{self.folder.name}/blog.toml"], check=True, capture_output=True)

    def wal_of(self, work):
        before = self.psql("select pg_current_wal_insert_lsn()")
        work()
        return int(self.psql(f"select pg_current_wal_insert_lsn() - '{before}'"))

    def size_of(self, tables):
        return int(self.psql("select coalesce(sum(pg_total_relation_size(c.oid)), 0) from pg_class as c where c.relkind = 'r'"
                             f" and c.relnamespace = to_regnamespace('lockstep') and c.relname ~ '{tables}'"))

    def single_updates(self, number):
        """Each a transaction of its own."""
        script = pathlib.Path(self.folder.name) / "update.sql"
        script.write_text("\\set id random(1, %d)\nupdate blog.blogposts set title = title || '.' where id = :id;\n" % self.posts)
        subprocess.run(["pgbench", "-n", "-f", script, "-t", str(number), self.url], check=True, capture_output=True)

    def index_bytes(self):
        for call in ("_forcemerge?max_num_segments=1", "_refresh"):
            urllib.request.urlopen(urllib.request.Request(f"{self.engine}/{self.name}/{call}", method="POST"))
        with urllib.request.urlopen(f"{self.engine}/{self.name}/_stats/store") as reply:
            return json.load(reply)["_all"]["primaries"]["store"]["size_in_bytes"]


def measure(posts, changes):
    with Blog(posts) as blog:
        blog.single_updates(changes)  # the first change of a page after a checkpoint writes the whole page into the WAL
        untracked = blog.wal_of(lambda: blog.single_updates(changes)) / changes
        blog.lockstep("apply", "--yes")
        blog.lockstep("run", "--until-caught-up")
        document = blog.psql("select avg(length(to_jsonb(d)::text)) from blog.documents as d")
        yield "a document of the view, as JSON", float(document)
        yield "the same in the index, merged, one copy", blog.index_bytes() / posts
        empty = blog.size_of("^outbox_")
        tracked = blog.wal_of(lambda: blog.single_updates(changes)) / changes
        yield "the WAL of an update of one row, untracked", untracked
        yield "the WAL of an update of one row, tracked", tracked
        single = blog.size_of("^outbox_")
        yield "the outbox, a single-row update", (single - empty) / changes
        blog.psql("update blog.blogposts set title = title || '.'")
        yield "the outbox, a row of one large statement", (blog.size_of("^outbox_") - single) / posts
        blog.lockstep("run", "--until-caught-up")
        yield "the outbox after it was followed, in all", blog.size_of("^outbox_")
        yield "the lists of jobs after it, in all", blog.size_of("^job_")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=int, default=50_000)
    parser.add_argument("--changes", type=int, default=10_000)
    arguments = parser.parse_args()
    for what, size in measure(arguments.posts, arguments.changes):
        print(f"{what}: {size:,.0f} bytes", flush=True)


if __name__ == "__main__":
    main()
