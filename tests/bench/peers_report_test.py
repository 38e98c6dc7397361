"""tests/bench/peers/report.py: what becomes of figures that several tools add one after the other."""
import contextlib
import io
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
from report import Report  # noqa: E402


class PeersReport(unittest.TestCase):
    def setUp(self):
        self.report = Report()

    def add(self, name, column, value):
        with contextlib.redirect_stdout(io.StringIO()):
            self.report.add(name, "s", column, value)

    def test_keeps_the_values_of_each_tool(self):
        for column, value in (("a", 1), ("b", 2), ("a", 3)):
            self.add("filling: time", column, value)
        self.assertEqual(self.report.rows(), [{"name": "filling: time", "unit": "s", "values": {"a": [1, 3], "b": [2]}}])

    def test_what_only_one_tool_has_stays_beside_what_it_belongs_to(self):
        self.add("filling: time", "ceiling", 1)
        self.add("rename: time", "ceiling", 1)
        self.add("filling: CPU", "a", 1)
        self.assertEqual([row["name"] for row in self.report.rows()], ["filling: time", "filling: CPU", "rename: time"])

    def test_latencies_become_quantiles(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.report.add_latencies("a", "tuned", list(range(100)))
        self.assertEqual([(row["name"], row["values"]["a"]) for row in self.report.rows()],
                         [(f"commit to GET at 20/s, tuned: p{share}", [share]) for share in (50, 95, 99)])


if __name__ == "__main__":
    unittest.main()
