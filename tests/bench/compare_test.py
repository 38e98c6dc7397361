"""tests/bench/compare.py: what it takes for a regression, and what for noise."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests/bench/compare.py"


def measure(unit, value, **more):
    return {"name": "it", "unit": unit, "values": value if isinstance(value, list) else [value], **more}


class Compare(unittest.TestCase):
    def compare(self, before, after):
        """Exit code, standard output and error for runs of one benchmark, each a list of measures."""
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work) / "drain"
            folder.mkdir()
            for side, runs in (("before", before), ("after", after)):
                for i, measures in enumerate(runs, 1):
                    (folder / f"{side}-{i}.json").write_text(json.dumps({"benchmark": "drain", "measures": measures}))
            run = subprocess.run([sys.executable, "-B", str(PROGRAM), "--before", "v1", str(folder)], capture_output=True, text=True,
                                 env=dict(os.environ, PYTHONIOENCODING="utf-8"), check=False)
        return run.returncode, run.stdout, run.stderr

    def said(self, unit, before, after, **more):
        """The exit code, and what is said of one measure with these values, one a run."""
        code, out, err = self.compare(*([[measure(unit, value, **more)] for value in side] for side in (before, after)))
        self.assertEqual(err, "")
        row = out.splitlines()[2]
        return code, row.split("|")[-2].strip() or "same"

    def test_a_time_that_has_grown_beyond_both_ranges_is_a_regression(self):
        self.assertEqual(self.said("ms", [10, 11, 12], [13, 14, 15]), (1, "**regression**"))
        self.assertEqual(self.said("ms", [13, 14, 15], [10, 11, 12]), (0, "better"))

    def test_ranges_that_touch_are_noise_however_far_the_medians_are_apart(self):
        self.assertEqual(self.said("ms", [10, 11, 30], [29, 40, 50]), (0, "same"))

    def test_a_small_difference_is_noise_however_clear_it_is(self):
        self.assertEqual(self.said("ms", [100, 100.1, 100.2], [104, 104.1, 104.2]), (0, "same"))
        self.assertEqual(self.said("ms", [100, 100.1, 100.2], [106, 106.1, 106.2]), (1, "**regression**"))

    def test_a_rate_is_worse_when_it_falls(self):
        self.assertEqual(self.said("changes/s", [100, 110, 120], [70, 80, 90]), (1, "**regression**"))
        self.assertEqual(self.said("changes/s", [70, 80, 90], [100, 110, 120]), (0, "better"))

    def test_a_target_says_which_way_is_better(self):
        at_least, at_most = {"bound": "at least", "value": 1}, {"bound": "at most", "value": 1}
        self.assertEqual(self.said("", [0.9, 0.9, 0.9], [0.5, 0.5, 0.5], target=at_least), (1, "**regression**"))
        self.assertEqual(self.said("", [0.9, 0.9, 0.9], [0.5, 0.5, 0.5], target=at_most), (0, "better"))
        self.assertEqual(self.said("", [0.9, 0.9, 0.9], [0.5, 0.5, 0.5]), (0, "not judged"))

    def test_what_is_counted_may_grow_by_one_percent(self):
        self.assertEqual(self.said("statements", [1000, 1000, 1000], [1010, 1010, 1010]), (0, "same"))
        self.assertEqual(self.said("statements", [1000, 1000, 1000], [1011, 1011, 1011]), (1, "**regression**"))
        self.assertEqual(self.said("requests", [0, 0, 0], [1, 1, 1]), (1, "**regression**"))

    def test_timers_add_to_what_is_counted_so_the_least_stands_for_it(self):
        self.assertEqual(self.said("statements", [10, 10, [10, 15]], [10, 30, [17, 40]]), (0, "same"))
        self.assertEqual(self.said("statements", [10, 10, [10, 15]], [[11, 40], 12, 13]), (1, "**regression**"))

    def test_what_is_counted_is_noise_while_its_ranges_touch(self):
        self.assertEqual(self.said("statements", [16, 30, 51], [23, 25, 27]), (0, "same"))

    def test_a_control_that_moves_makes_the_run_worthless_either_way(self):
        for before, after in (([10, 10, 10], [20, 20, 20]), ([20, 20, 20], [10, 10, 10])):
            self.assertEqual(self.said("documents/s", before, after, control=True), (1, "**unsteady**"))
        self.assertEqual(self.said("documents/s", [10, 10, 10], [10, 10, 11], control=True), (0, "control"))

    def test_a_run_counts_by_its_median(self):
        self.assertEqual(self.said("ms", [[1, 10, 99]] * 3, [[9, 10, 10]] * 3), (0, "same"))

    def test_median_range_and_ratio_are_printed(self):
        _, out, _ = self.compare([[measure("ms", value)] for value in (1, 2, 4)], [[measure("ms", value)] for value in (2, 2, 2)])
        self.assertIn("| drain | v1 | working copy | ratio | |", out)
        self.assertIn("| it, ms | 2 (1–4) | 2 | 1.000 |  |", out)

    def test_what_only_one_version_measures_is_shown_and_not_judged(self):
        code, out, _ = self.compare([[measure("ms", 1)]] * 3, [[dict(measure("ms", 1), name="new")]] * 3)
        self.assertEqual(code, 0)
        self.assertIn("| new, ms |  | 1 |  | only after |", out)
        self.assertIn("| it, ms | 1 |  |  | only before |", out)

    def test_results_that_cannot_be_compared_are_an_error(self):
        one = [measure("ms", 1)]
        for before, after, reason in (
                ([], [one], "has no before-*.json"),
                ([one, one], [one], "2 runs before and 1 after"),
                ([one, []], [one, one], "was measured in 1 of 2 runs"),
                ([[measure("furlongs", 1)]], [[measure("furlongs", 1)]], 'has the unit "furlongs"')):
            code, _, err = self.compare(before, after)
            self.assertEqual(code, 1)
            self.assertIn(reason, err)


if __name__ == "__main__":
    unittest.main()
