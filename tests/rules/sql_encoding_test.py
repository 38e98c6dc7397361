"""SQL goes to databases in any encoding, comments and all, so its files are ASCII."""

import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["migrations", "replicator"]


class SqlEncoding(unittest.TestCase):
    def test_files_are_ascii(self):
        files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.sql")]
        self.assertGreater(len(files), 20)
        for file in files:
            with self.subTest(str(file.relative_to(ROOT))):
                self.assertTrue(file.read_bytes().isascii())


if __name__ == "__main__":
    unittest.main()
