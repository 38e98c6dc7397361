"""The password of lockstep's role changes in PostgreSQL while the service runs: it goes on by itself as soon as its file is rewritten."""
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("LOCKSTEP_TEST_PROGRAM", str(ROOT / "build" / "lockstep"))
PATIENCE = 120


class RotatedPasswordTest(unittest.TestCase):
    def setUp(self):
        engine = os.environ.get("LOCKSTEP_TEST_ELASTICSEARCH")
        if not engine:
            self.fail("LOCKSTEP_TEST_ELASTICSEARCH names no server; start one and name it: export "
                      "LOCKSTEP_TEST_ELASTICSEARCH=$(scripts/engine start elasticsearch-7.10 --data /tmp/lockstep-es)")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)  # the server runs as another user
        self.write("pg_hba.conf", "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        data = self.folder / "server"
        self.server = self.must(ROOT / "scripts/postgresql", "start", "--data", data, "-c", f"hba_file={self.folder}/pg_hba.conf").strip()
        self.addCleanup(self.must, ROOT / "scripts/postgresql", "stop", "--data", data, "--immediate")
        self.sql("create role lockstep login password 'first'", "create database shop owner lockstep")
        self.sql("set role lockstep; create table things (id integer primary key); "
                 "create view documents as select id as _id from things; insert into things values (1)", database="shop")
        self.write("password", "first\n").chmod(0o600)
        self.write("mapping.json", '{"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {}}')
        address = self.server.partition("@")[2].partition("/")[0]
        self.config = self.write("lockstep.toml", f"""
            [source]
            url = "postgresql://lockstep@{address}/shop"
            password_file = "password"
            [elasticsearch]
            urls = ["{engine}"]
            [[index]]
            alias = "rotated-{uuid.uuid4().hex}"
            mapping = "mapping.json"
            view = "public.documents"
            [[index.track]]
            table = "public.things"
            """)

    def write(self, name, content):
        (self.folder / name).write_text(content)
        (self.folder / name).chmod(0o644)
        return self.folder / name

    def must(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def sql(self, *statements, database="postgres"):
        url = self.server.rpartition("/")[0] + "/" + database
        self.must("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", *(part for each in statements for part in ("-c", each)), url)

    def lockstep(self, *arguments):
        return self.must(PROGRAM, *arguments, "-c", self.config)

    def logged(self, words):
        deadline = time.monotonic() + PATIENCE
        while words not in (self.folder / "log").read_text():
            self.assertLess(time.monotonic(), deadline, (self.folder / "log").read_text())
            time.sleep(0.05)

    def test_the_service_goes_on_when_the_file_has_the_new_password(self):
        self.lockstep("apply", "--yes")
        self.addCleanup(self.lockstep, "remove", "--yes", "--indices")
        with open(self.folder / "log", "w", encoding="utf-8") as log:
            service = subprocess.Popen([PROGRAM, "run", "-c", self.config], stderr=log)
        self.addCleanup(lambda: service.poll() is None and service.kill())
        self.lockstep("wait", "--timeout", "60s")
        self.sql("alter role lockstep password 'second'",
                 "select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = 'lockstep'")
        self.logged("PostgreSQL refuses the role lockstep in the database shop: password authentication failed")
        self.logged("source_refuses")
        self.sql("insert into things values (2)", database="shop")
        self.write("password", "second\n").chmod(0o600)
        self.lockstep("wait", "--timeout", "60s")
        self.lockstep("verify")
        self.assertIn("a file with credentials has changed", (self.folder / "log").read_text())
        self.assertIsNone(service.poll())
        service.send_signal(signal.SIGTERM)
        self.assertEqual(service.wait(PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
