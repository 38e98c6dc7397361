"""What README.md and docs/tutorial.md print, run at a terminal and compared. `scripts/docs --outputs` writes it into the pages instead."""
import json
import pathlib
import unittest

from printed import WRITES, Page, Session, comparable, fits, lines_to_show, screen
from shop import ROOT


class Printed(unittest.TestCase):
    maxDiff = None

    def session(self):
        session = Session()
        self.addCleanup(session.close)
        return session

    def check(self, page, differences):
        if WRITES:
            page.save()
        self.assertEqual(differences, [], "write what is printed into the pages with `scripts/docs --outputs`\n\n" + "\n\n".join(differences))

    def test_the_tutorial(self):
        page, session = Page("docs/tutorial.md"), self.session()
        self.check(page, [difference for block in page.blocks for difference in session.play(page, block)])

    def test_the_first_session_of_the_readme(self):
        page, session = Page("README.md"), self.session()
        session.run("createdb shop")
        session.write("tables.sql", pathlib.Path(ROOT, "schema/shop/postgresql/install.sql").read_text())
        session.write("view.sql", page.first("sql").text)
        self.assertEqual(session.run("psql shop -q -f tables.sql -f view.sql"), [])
        init, up, status = page.first("", "## Use it on your database").text.splitlines()
        session.run(init)
        session.run(up)
        self.assertIn("pipeline orders: following", session.run(status))
        self.check_document(page, session)
        session.run("export LOCKSTEP_CONFIG=orders/orders.toml")
        self.check(page, session.play(page, page.first("console")))

    def check_document(self, page, session):
        block = page.first("json")
        (printed,) = session.run("curl -s 'localhost:9200/orders/_doc/1/_source'")
        if WRITES:
            fields = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in json.loads(printed).items())
            page.replace(block, f"{{\n{fields}\n}}\n")
        else:
            self.assertEqual(json.loads(block.text), json.loads(printed))


class Comparison(unittest.TestCase):
    def test_what_varies_is_left_out(self):
        self.assertTrue(fits(["09:52:58.490 info    it took 1.2 s, 1,200/s"], ["10:00:00.001 info    it took 120 ms, 9/s"]))
        self.assertFalse(fits(["20,000 documents"], ["19,999 documents"]))
        self.assertEqual(comparable("placed on 2026-01-02"), "placed on 2026-01-02")

    def test_lines_and_ends_of_lines_can_be_left_out(self):
        self.assertTrue(fits(["a", "…", "z"], ["a", "b", "c", "z"]))
        self.assertTrue(fits(["a", "…"], ["a"]))
        self.assertFalse(fits(["a", "…", "z"], ["a", "b"]))
        self.assertTrue(fits(["warning: …"], ["warning: a long one"]))
        self.assertEqual(lines_to_show(["a", "…", "y"], ["a", "b", "c", "z"]), ["a", "…", "z"])
        self.assertEqual(lines_to_show(["took 1 s"], ["took 2 s"]), ["took 1 s"])

    def test_a_terminal_keeps_what_is_not_overwritten(self):
        self.assertEqual(screen("\r\x1b[Kcomparing 1\r\x1b[Kcomparing 2\r\x1b[K\x1b[32mdone\x1b[m\r\na\tb\r\n\r\x1b[K"), ["done", "a       b"])


if __name__ == "__main__":
    unittest.main()
