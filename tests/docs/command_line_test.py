"""docs/command-line.md is what the program's help prints."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import command_line  # noqa: E402

SAMPLE = """Wait until it is done
Usage: lockstep wait [OPTIONS] [NAME]

Arguments:
  NAME                        The name

Options:
  -h,--help                   Print this help message and exit
  -c,--config FILE=/etc/lockstep/lockstep.toml (or $LOCKSTEP_CONFIG)
                              The configuration
  --with TABLE,… ...          Tables
  --as URL not with: --as-env The owner

Example:
  lockstep wait
"""


class CommandLine(unittest.TestCase):
    def test_the_page_is_what_the_program_prints(self):
        self.assertEqual(command_line.PAGE.read_text(), command_line.page(), f"run {command_line.COMMAND}")

    def test_the_help_is_taken_apart(self):
        head, found = command_line.sections(SAMPLE)
        self.assertEqual(head, ["Wait until it is done", "Usage: lockstep wait [OPTIONS] [NAME]"])
        self.assertEqual(found["Arguments"], [("NAME", "The name")])
        self.assertEqual(found["Options"][1:], [
            ("-c,--config FILE=/etc/lockstep/lockstep.toml (or $LOCKSTEP_CONFIG)", "The configuration"), ("--with TABLE,… ...", "Tables"),
            ("--as URL not with: --as-env", "The owner")])
        self.assertEqual(command_line.item(found["Options"][1]), "- `-c, --config FILE=/etc/lockstep/lockstep.toml`, or `$LOCKSTEP_CONFIG`: The configuration.")

    def test_the_commands_of_an_option_are_named_shortly(self):
        self.assertEqual(command_line.names_of(["locks list", "locks show", "locks break"]), "`locks …`")
        self.assertEqual(command_line.names_of(["run", "locks show"]), "`run`, `locks show`")
        self.assertEqual(command_line.names_of(["run"] * 8), "Most commands")


if __name__ == "__main__":
    unittest.main()
