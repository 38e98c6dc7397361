"""docs/production.md can be followed: its role has the documented privileges, Prometheus takes its configuration, its SQL its roles."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
from commands_test import blocks  # noqa: E402

PAGE = (ROOT / "docs/production.md").read_text()


def block(language):
    """The only one of this language."""
    (found,) = ("\n".join(lines) for _, of_block, lines in blocks(PAGE) if of_block == language)
    return found


class Production(unittest.TestCase):
    def test_the_role_has_exactly_the_privileges_of_the_reference(self):
        reference = (ROOT / "docs/configuration.md").read_text()
        row = re.search(r"^\| Elasticsearch \| (.*?) \| (.*?) \|$", reference, re.MULTILINE)
        cluster, index = (re.findall(r"`([^`]+)`", column) for column in row.groups())
        role = json.loads(block("json"))
        self.assertEqual(role["cluster"], cluster)
        self.assertEqual(role["indices"][0]["privileges"], index)

    def test_prometheus_takes_the_configuration_with_the_rules_that_it_names(self):
        installed = "/usr/share/lockstep/alert-rules.yml"
        self.assertIn(installed, block("yaml"))
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write(block("yaml").replace(installed, str(ROOT / "config/alert-rules.yml")))
            file.flush()
            done = subprocess.run([ROOT / "scripts/promtool", "check", "config", file.name], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("rules found", done.stdout)

    def test_the_roles_can_be_made(self):
        server = os.environ.get("LOCKSTEP_TEST_POSTGRESQL")
        self.assertTrue(server, "LOCKSTEP_TEST_POSTGRESQL names no server; start one with `scripts/postgresql start`, and name it")
        tag = uuid.uuid4().hex[:8]
        names = {"lockstep": f"lockstep_{tag}", "shop_owner": f"owner_{tag}", "database shop": f"database shop_{tag}"}
        statements = re.sub("|".join(names), lambda name: names[name[0]], block("sql"))
        psql = ["psql", "-qX", "-v", "ON_ERROR_STOP=1", server]
        begin = f"create role owner_{tag}; create database shop_{tag};"
        end = f"drop database shop_{tag}; drop role lockstep_{tag}, owner_{tag};"
        for each in (begin, statements, end):
            subprocess.run(psql, input="".join(f"{part};\n" for part in each.split(";") if part.strip()), text=True, check=True)


if __name__ == "__main__":
    unittest.main()
