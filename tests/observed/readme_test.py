"""What README.md shows first, run and compared."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import urllib.parse
import urllib.request
import uuid

from browser import wait_until
from shop import PROGRAM, ROOT, psql, server

README = pathlib.Path(ROOT, "README.md").read_text()
PATIENCE = 60


def block(language):
    """The first block of README.md in a language."""
    return re.search(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)[1]


class Readme(unittest.TestCase):
    def setUp(self):
        self.postgresql = server("LOCKSTEP_TEST_POSTGRESQL", "scripts/postgresql start")
        self.engine = server("LOCKSTEP_TEST_ELASTICSEARCH", "scripts/engine start elasticsearch-7.10")
        self.name = f"readme_{uuid.uuid4().hex[:12]}"
        psql(self.postgresql, f"create database {self.name}")
        self.addCleanup(psql, self.postgresql, f"drop database {self.name} with (force)")
        self.database = urllib.parse.urlsplit(self.postgresql)._replace(path=f"/{self.name}").geturl()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.symlink(PROGRAM, os.path.join(self.folder, "lockstep"))

    def shell(self, command):
        """Its output, and that of errors. Names of servers, database and alias become those of the test, and back."""
        for theirs, ours in (("postgresql:///shop", self.database), ("psql shop", f"psql -X {self.database}"),
                             ("localhost:9200/orders", f"{self.engine}/{self.name}"),
                             ("orders orders", f"orders --alias {self.name} --elasticsearch {self.engine} orders"),
                             ("orders/orders.toml", f"orders/{self.name}.toml")):
            command = command.replace(theirs, ours)
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "LOCKSTEP_CONFIG": f"orders/{self.name}.toml"}
        done = subprocess.run(command, shell=True, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, timeout=PATIENCE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}")
        return done.stdout.replace(self.name, "orders")

    def test_the_first_session_is_what_one_sees(self):
        psql(self.database, pathlib.Path(ROOT, "schema/shop/postgresql/install.sql").read_text())
        psql(self.database, block("sql"))
        init, up, status = re.search(r"^## Use it on your database\n\n```\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)[1].splitlines()
        self.shell(init)
        service = subprocess.Popen([PROGRAM, *up.replace("orders/orders", f"orders/{self.name}").split()[1:]], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.delete_index)
        self.addCleanup(service.wait)
        self.addCleanup(service.kill)
        self.assertTrue(wait_until(lambda: subprocess.run([PROGRAM, "wait", "-c", f"orders/{self.name}.toml"], cwd=self.folder,
                                                          capture_output=True).returncode == 0, PATIENCE))
        self.shell("curl -s -X POST 'localhost:9200/orders/_refresh'")
        self.assertEqual(self.shell("curl -s 'localhost:9200/orders/_count?filter_path=count'"), '{"count":20000}')
        self.assertTrue(wait_until(lambda: "pipeline orders: following" in self.shell(status), PATIENCE))
        self.assertEqual(self.shell("curl -s 'localhost:9200/orders/_doc/1?filter_path=_id,_source'") + "\n", block("json"))
        session = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block("console"), re.MULTILINE)
        self.assertEqual(len(session), 4)
        for command, shown in session:
            self.assertEqual(self.shell(command).rstrip("\n"), shown.rstrip("\n"), command)

    def delete_index(self):
        urllib.request.urlopen(urllib.request.Request(f"{self.engine}/{self.name}-000001", method="DELETE"))


if __name__ == "__main__":
    unittest.main()
