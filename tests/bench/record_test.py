"""tests/bench/record.py: the table of several tools."""
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


class BesideLockstep(unittest.TestCase):
    def test_has_the_figures_of_one_tool_and_of_lockstep(self):
        result = {**RESULT, "rows": [*RESULT["rows"], {"name": "rename", "unit": "s", "values": {"Other": [2], "Lockstep": [1]}},
                                     {"name": "tuned", "unit": "s", "values": {"Other": [3]}}]}
        self.assertEqual(record.beside_lockstep(result, "Other").splitlines()[2:],
                         ["| | Other | Lockstep |", "|---|---|---|", "| rename, s | 2 | 1 |", "| tuned, s | 3 |  |"])


class Summary(unittest.TestCase):
    def test_has_a_verdict_on_each_promise_and_leads_to_its_section(self):
        measures = {}
        for _, _, name, measure in record.SUMMARY:
            measures.setdefault(name, []).append({"name": measure, "unit": "", "values": [2], "target": {"bound": "at most", "value": 1}})
        lines = record.summary({name: {"measures": of} for name, of in measures.items()}).splitlines()
        self.assertEqual(len(lines), 2 + len(record.SUMMARY))
        self.assertEqual(lines[3], "| [filling an index, of what ready-made bulks reach](#backfill) | 2 |  | at most 1: **missed by 100%** |")


if __name__ == "__main__":
    unittest.main()
