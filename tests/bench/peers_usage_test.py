"""scripts/peers says what is wrong with its parameters before it installs or starts anything."""
import pathlib
import subprocess
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/peers"


class PeersUsage(unittest.TestCase):
    def refused(self, *arguments):
        """What it says, in the one line that it may say."""
        done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        return done.stderr

    def test_more_samples_than_documents_have(self):
        self.assertIn("--samples 100000 is too many for --posts 1000: 8 at most", self.refused("--samples", "100000", "--posts", "1000"))
        self.assertIn("--samples 400 is too many for --posts 1000", self.refused("--posts", "1000"))
        self.assertIn("--samples 39 is too many for --posts 4000: 38 at most", self.refused("--quick", "--samples", "39"))

    def test_too_few_documents_for_any_sample(self):
        self.assertIn("--posts 299 is too few: 300 or more", self.refused("--posts", "299", "--samples", "1"))

    def test_what_is_no_number_or_no_parameter(self):
        for value in ("0", "x", "-1", "1.5", "9999999999"):
            with self.subTest(value):
                self.assertIn(f"--rounds {value} is not a number from 1 to", self.refused("--rounds", value))
        self.assertIn("--rounds needs a value", self.refused("--rounds"))
        self.assertIn("unknown option nonsense", self.refused("nonsense"))


if __name__ == "__main__":
    unittest.main()
