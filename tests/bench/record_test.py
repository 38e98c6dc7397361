"""tests/bench/record.py: its tables, and where they go."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import record

ROOT = pathlib.Path(__file__).resolve().parents[2]

RESULT = {"benchmark": "peers", "date": "2026-01-02", "parameters": {"posts": 200000, "rounds": 3},
          "on": {"cores": 2, "memory_gib": 7.9, "load_before": 0.14, "elasticsearch": "elasticsearch 7.10.2", "postgresql": "15.20"},
          "columns": ["ceiling", "Lockstep"],
          "rows": [{"name": "filling", "unit": "documents/s", "values": {"ceiling": [30000, 10000, 20000], "Lockstep": [15000]}},
                   {"name": "documents that differ", "unit": "", "values": {"Lockstep": [0, 0, 0]}}]}


class ToolsTable(unittest.TestCase):
    def table(self, result):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(result, file)
            file.flush()
            return subprocess.run([sys.executable, "-B", str(ROOT / "tests/bench/record.py"), "--print", file.name],
                                  capture_output=True, text=True, check=True).stdout.splitlines()

    def test_has_a_column_for_each_tool_with_median_and_range(self):
        self.assertEqual(self.table(RESULT)[2:], [
            "| | ceiling | Lockstep |",
            "|---|---|---|",
            "| filling, documents/s | 20,000 (10,000–30,000) | 15,000 |",
            "| documents that differ |  | 0 |"])

    def test_has_ratios_before_rates(self):
        result = {**RESULT, "benchmark": "drain", "measures": [{"name": "filling", "unit": "documents/s", "values": [1000]},
                                                               {"name": "share of the ceiling", "unit": "", "values": [0.5]}]}
        del result["columns"]
        self.assertEqual(self.table(result)[4:6], ["| share of the ceiling | 0.5 |  |  |", "| filling | 1,000 documents/s |  |  |"])

    def test_says_when_and_on_what_it_was_measured(self):
        self.assertEqual(self.table(RESULT)[0], "2026-01-02: 2 cores, 8 GiB, load 0.1 before it began; elasticsearch 7.10.2, PostgreSQL "
                                                "15.20; posts 200,000, rounds 3.")


class ChosenTable(unittest.TestCase):
    def test_has_a_verdict_on_each_promise_and_leads_to_its_section(self):
        measures = {}
        for _, _, name, measure in record.CHOSEN["summary"]:
            measures.setdefault(name, []).append({"name": measure, "unit": "", "values": [2], "target": {"bound": "at most", "value": 1}})
        results = {name: {"date": f"2026-01-0{day}", "on": RESULT["on"], "measures": of} for day, (name, of) in enumerate(measures.items(), 1)}
        lines = record.chosen_table(record.CHOSEN["summary"], results).splitlines()
        self.assertEqual(len(lines), 4 + len(record.CHOSEN["summary"]))
        self.assertEqual(lines[0], "Recorded 2026-01-01 to 2026-01-04: 2 cores, 8 GiB; elasticsearch 7.10.2, PostgreSQL 15.20.")
        self.assertEqual(lines[4], "| [filling an index](../tests/bench/README.md#backfill) | 2 |  | at most 1: **missed by 100%** |")


class Filled(unittest.TestCase):
    PAGE = "a\n<!-- results: one -->\nold\n<!-- end -->\nb\n"

    def test_has_the_table_between_its_marks(self):
        self.assertEqual(record.filled(self.PAGE, {"one": "new"}), self.PAGE.replace("old", "new"))

    def test_names_a_table_that_does_not_exist(self):
        with self.assertRaisesRegex(SystemExit, "one"):
            record.filled(self.PAGE, {})

    def test_wants_an_end_for_each_mark(self):
        with self.assertRaisesRegex(SystemExit, "end"):
            record.filled("<!-- results: one -->\nold\n", {"one": "new"})


if __name__ == "__main__":
    unittest.main()
