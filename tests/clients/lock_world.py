"""A place for locks that no other test uses, on the real engine, and the program beside it."""
import os
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "clients", "python"))
from lockstep_locks.server import Server  # noqa: E402

PROGRAM = os.environ.get("LOCKSTEP_TEST_PROGRAM", os.path.join(ROOT, "build", "lockstep"))
PATIENCE = 120.0


class LockWorld(unittest.TestCase):
    """For each class of tests: `engine` is the server's URL, `name` begins the name of each index, `config` is a file."""

    @classmethod
    def setUpClass(cls):
        cls.engine = os.environ.get("LOCKSTEP_TEST_ELASTICSEARCH")
        if not cls.engine:
            raise cls.failureException("LOCKSTEP_TEST_ELASTICSEARCH names no server; start one and name it: export "
                                       "LOCKSTEP_TEST_ELASTICSEARCH=$(scripts/engine start elasticsearch-7.10 --data /tmp/lockstep-es)")
        cls.server = Server(cls.engine, 60)
        cls.addClassCleanup(cls.server.close)
        cls.name = f"test-clients-{uuid.uuid4().hex}"
        cls.addClassCleanup(cls.delete_indices)
        cls.index = f"{cls.name}-locks"
        cls.config = cls.enterClassContext(cls.configuration("30s"))
        cls.lockstep("locks", "prepare")  # makes the indices and the scripts

    @classmethod
    def configuration(cls, lease):
        """A file that goes when it is closed."""
        file = tempfile.NamedTemporaryFile("w", suffix=".toml")
        file.write(f'[elasticsearch]\nurls = ["{cls.engine}"]\n[locks]\nindex = "{cls.index}"\nlease = "{lease}"\n')
        file.flush()
        return file

    @classmethod
    def delete_indices(cls):
        cls.server.request("cleaning up", "DELETE", f"/{cls.name}-*", accepted=(404,))
        cls.server.request("cleaning up", "DELETE", f"/_index_template/{cls.name}-*", accepted=(404,))

    @classmethod
    def lockstep(cls, *words):
        return subprocess.run([PROGRAM, words[0], "-c", cls.config.name, *words[1:]], capture_output=True, text=True, timeout=PATIENCE)

    @classmethod
    def locks_list(cls):
        listed = cls.lockstep("locks", "list")
        if listed.returncode != 0:
            raise cls.failureException(listed.stderr)
        return listed.stdout

    def wait_until(self, condition, what):
        """Asks again and again, and fails when it takes too long."""
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)

    def put(self, document, id="1", index="data"):
        self.server.request("writing", "PUT", f"/{self.name}-{index}/_doc/{id}?refresh=true", document)

    def document(self, id="1", index="data"):
        return self.server.request("reading", "GET", f"/{self.name}-{index}/_doc/{id}")[1]["_source"]
