"""A pipeline outlives an upgrade of its PostgreSQL, and a dump that is restored: what was applied is still applied, exactly the
documents that changed meanwhile are written, and rows of a partition that is made later arrive."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest
import urllib.request
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("LOCKSTEP_TEST_PROGRAM", str(ROOT / "build" / "lockstep"))
POSTGRESQL = ROOT / "scripts/postgresql"
PATIENCE = 120

# A partitioned table, a table that its documents join, and a view of a view.
SCHEMA = """
create table room (id integer primary key, name text not null);
create table visit (id integer not null, day integer not null, room_id integer not null references room, note text,
  primary key (id, day)) partition by range (day);
create table visit_1 partition of visit for values from (1) to (2);
create table visit_2 partition of visit for values from (2) to (3);
create view shown as select visit.id, visit.day, visit.room_id, visit.note from visit where visit.note is not null;
create view documents as
  select s.day || '-' || s.id as _id, s.room_id as _room_id, s.id as _visit_id, s.note, r.name as room
  from shown s join room r on r.id = s.room_id;
create view notes as select id as _id, name from room where name <> '';
insert into room select i, 'room ' || i from generate_series(1, 10) i;
insert into visit select i, 1 + i % 2, 1 + i % 10, 'note ' || i from generate_series(1, 100) i;
"""
CHANGES = """
update visit set note = 'changed' where id in (1, 2, 3);
update room set name = 'changed' where id = 5;
delete from visit where id = 7;
update visit set day = 2 where id = 10;
insert into visit values (200, 1, 1, 'new');
update visit set note = note where id = 50;
"""


class UpgradedPostgresql(unittest.TestCase):
    def setUp(self):
        self.engine = os.environ.get("LOCKSTEP_TEST_ELASTICSEARCH")
        if not self.engine:
            self.fail("LOCKSTEP_TEST_ELASTICSEARCH names no server; start one and name it: export "
                      "LOCKSTEP_TEST_ELASTICSEARCH=$(scripts/engine start elasticsearch-7.10 --data /tmp/lockstep-es)")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)  # the server runs as another user
        self.data = self.folder / "server"
        self.name = uuid.uuid4().hex

    def write(self, name, content):
        (self.folder / name).write_text(content)
        return self.folder / name

    def must(self, *command, **options):
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def start_server(self, version):
        # The version counts here, not the one that the other tests run against
        environment = {name: value for name, value in os.environ.items() if name != "LOCKSTEP_POSTGRESQL_BIN"}
        self.server = self.must(POSTGRESQL, "start", "--data", self.data, "--version", version, env=environment).strip()

    def stop_server(self):
        self.must(POSTGRESQL, "stop", "--data", self.data)

    def url(self, database):
        return self.server.rpartition("/")[0] + "/" + database

    def sql(self, statements, database="shop"):
        return self.must("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statements, self.url(database))

    def configure(self, database="shop"):
        self.write("mapping.json", '{"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {}}')
        self.config = self.write("lockstep.toml", f"""
            pipeline = "upgraded"
            [source]
            url = "{self.url(database)}"
            [elasticsearch]
            urls = ["{self.engine}"]
            [[index]]
            alias = "visits-{self.name}"
            mapping = "mapping.json"
            view = "public.documents"
            [[index.track]]
            table = "public.visit"
            column = "_visit_id"
            row = "id"
            [[index.track]]
            table = "public.room"
            column = "_room_id"
            [[index]]
            alias = "rooms-{self.name}"
            mapping = "mapping.json"
            view = "public.notes"
            [[index.track]]
            table = "public.room"
            """)

    def lockstep(self, *arguments):
        return self.must(PROGRAM, *arguments, "-c", self.config)

    def run_until_equal(self, meanwhile=None):
        """Runs the service until everything committed is applied, does something, and ends it when that is applied too."""
        with open(self.folder / "log", "w", encoding="utf-8") as log:
            service = subprocess.Popen([PROGRAM, "run", "-c", self.config], stderr=log)
        try:
            self.lockstep("wait", "--timeout", "60s", "--refresh")
            states = self.written()
            if meanwhile:
                meanwhile()
                self.lockstep("wait", "--timeout", "60s", "--refresh")
            status = self.lockstep("status")
            self.lockstep("verify")
        finally:
            service.send_signal(signal.SIGTERM)
            service.wait(PATIENCE)
        log = (self.folder / "log").read_text()
        for output in (status, log):
            self.assertNotIn("since the last apply", output)
        return states

    def written(self):
        """The version of each document, which each write of it moves."""
        found = {}
        for kind in ("visits", "rooms"):
            address = f"{self.engine}/{kind}-{self.name}/_search?version=true&size=1000"
            with urllib.request.urlopen(address, timeout=PATIENCE) as reply:
                for hit in json.load(reply)["hits"]["hits"]:
                    found[kind, hit["_id"]] = hit["_version"]
        return found

    def first_life(self):
        self.sql("create database shop", database="postgres")
        self.sql(SCHEMA)
        self.configure()
        self.lockstep("apply", "--yes")
        self.addCleanup(self.lockstep, "remove", "--yes", "--indices")
        return self.run_until_equal()

    def second_life(self, before, rows_of_parts_are_noted=False):
        self.assertIn("no errors", self.lockstep("check"))
        self.assertEqual(self.lockstep("apply", "--yes"), "nothing to do\n")

        def make_a_partition():
            self.sql("create table visit_3 partition of visit for values from (3) to (4); "
                     "insert into visit_3 values (300, 3, 1, 'in a new partition')")

        after = self.run_until_equal(make_a_partition)
        in_room_5 = {("visits", f"{1 + i % 2}-{i}") for i in range(1, 101) if 1 + i % 10 == 5}
        expected = {("visits", "2-1"), ("visits", "1-2"), ("visits", "2-3"), ("visits", "1-200"), ("visits", "2-10"),
                    ("rooms", "5")} | in_room_5
        written = {each for each in after if after[each] != before.get(each)}
        if rows_of_parts_are_noted:
            self.assertLessEqual(expected, written)
            written = {each for each in written if each[0] == "rooms"} | expected
        self.assertEqual(written, expected)
        self.assertEqual({each for each in before if each not in after}, {("visits", "2-7"), ("visits", "1-10")})
        self.assertIn(("visits", "3-300"), self.written())

    def upgraded(self, old, new):
        self.start_server(old)
        self.addCleanup(lambda: self.must(POSTGRESQL, "stop", "--data", self.data, "--immediate"))
        before = self.first_life()
        self.sql(CHANGES)
        self.stop_server()
        self.must(POSTGRESQL, "upgrade", "--data", self.data, "--version", new)
        self.start_server(new)
        self.configure()
        self.lockstep("apply", "--yes")  # the parts' memberships are rows of a new catalogue, so their rows are noted once more
        self.second_life(before, rows_of_parts_are_noted=True)

    def test_after_pg_upgrade_from_13_to_17_no_definition_counts_as_changed(self):
        self.upgraded("13", "17")

    def test_after_pg_upgrade_from_15_to_18_no_definition_counts_as_changed(self):
        self.upgraded("15", "18")

    def test_after_a_dump_is_restored_elsewhere_only_what_changed_is_written(self):
        self.start_server("15")
        self.addCleanup(lambda: self.must(POSTGRESQL, "stop", "--data", self.data, "--immediate"))
        before = self.first_life()
        self.sql(CHANGES)
        self.must("pg_dump", "--format=custom", f"--file={self.folder}/dump", self.url("shop"))
        self.sql("create database copy", database="postgres")
        self.must("pg_restore", "--exit-on-error", f"--dbname={self.url('copy')}", f"{self.folder}/dump")
        self.sql("drop database shop with (force)", database="postgres")
        self.sql("alter database copy rename to shop", database="postgres")
        self.lockstep("apply", "--yes")  # ties the parts, which are other tables now, to their table
        self.second_life(before)


if __name__ == "__main__":
    unittest.main()
