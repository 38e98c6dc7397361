"""tests/bench/scale_model.py: where its costs come from, and what follows from them."""
import json
import pathlib
import tempfile
import unittest
from unittest import mock

import scale_model

ROOT = pathlib.Path(__file__).resolve().parents[2]

COSTS = json.loads(scale_model.COSTS.read_text())


class Costs(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch.multiple(scale_model, RESULTS=pathlib.Path(folder), PAGE=pathlib.Path(folder) / "page.md"))
        measures = [{"name": "drained", "unit": "changes/s", "values": [10_000, 40_000, 20_000]},
                    {"name": "CPU", "unit": "s", "values": [9, 5, 1]}]
        (scale_model.RESULTS / "work.json").write_text(json.dumps({"measures": measures}))
        scale_model.PAGE.write_text("## Other\n\n| a | b |\n|---|---|\n| x | 1 ms |\n\n"
                                    "## Mine\n\n| a | b |\n|---|---|\n| x | 1,200.5 µs |\n")

    def test_are_the_median_of_a_recorded_measure(self):
        self.assertAlmostEqual(scale_model.of_result({"result": "work", "measure": "CPU", "of": 50_000}), 1e-4)

    def test_are_turned_round_where_the_measure_is_a_rate(self):
        self.assertAlmostEqual(scale_model.of_result({"result": "work", "measure": "drained"}), 5e-5)

    def test_are_a_cell_of_the_section_that_they_link_to(self):
        self.assertAlmostEqual(scale_model.of_page({"section": "Mine", "row": "x", "column": "b"}), 1.2005e-3)

    def test_name_what_is_not_there(self):
        for missing in ({"result": "work", "measure": "gone"}, {"section": "Mine", "row": "gone", "column": "b"},
                        {"section": "Mine", "row": "x", "column": "gone"}, {"section": "gone", "row": "x", "column": "b"}):
            with self.subTest(missing), self.assertRaisesRegex(SystemExit, "gone"):
                scale_model.resolved({"cost": missing})


class Model(unittest.TestCase):
    costs = {"writer": 200e-6, "trigger": 100e-6, "follow": 20e-6, "lockstep": 5e-6, "pipeline": 30e-6, "index": 100e-6, "turn": 5e-3}

    def test_one_times_is_what_two_cores_carry_with_all_that_runs_on_them(self):
        # 487.5 µs of the 1.4 s that two cores have in a second: 2,871 changes
        self.assertEqual(scale_model.base(self.costs), 2_000)

    def test_a_pipeline_carries_no_more_than_its_turns_give(self):
        self.assertAlmostEqual(scale_model.capacities(self.costs)[scale_model.PIPELINE], 0.7 / 30e-6 / 1.5)

    def test_the_narrowest_part_comes_first(self):
        self.assertEqual(list(scale_model.capacities(self.costs)), [scale_model.PIPELINE, scale_model.NODE, scale_model.WRITERS])

    def test_a_change_costs_elasticsearch_what_replacing_does(self):
        self.assertEqual((COSTS["index"]["result"], COSTS["index"]["of"]), ("drain", 50_000))


if __name__ == "__main__":
    unittest.main()
