"""Whoever reads a warning of `lockstep status` finds it in docs/operations.md, with the section that helps; and no warning there is an
invention."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Where the warnings are written.
SQL = {"replicator/source/postgres/sql/view_parts.sql": "differences_from_applied",
       "replicator/source/postgres/sql/rights.sql": "rights_at_risk",
       "replicator/source/sqlite/sql/capture.sql": "rows_of_no_index"}
CODE = {"replicator/source/postgres/catalog/differences.cc": ["difference_of"],
        "replicator/source/index_definition.cc": ["reason_to_compare"],
        "replicator/source/sqlite/define/altered_indices.cc": ["text"],
        "replicator/source/sqlite/define/differences.cc": ["in_words", "add_missing_fields", "add_view_differences"],
        "replicator/source/sqlite/define/wanted.cc": ["misfit"],
        "replicator/pipeline/progress_report.cc": ["ProgressReport::find_differences", "ProgressReport::note_troubles"],
        "replicator/pipeline/jobs/job_runner.cc": ["JobRunner::troubles"],
        "replicator/elasticsearch/bulk/bulk_writer.cc": ["BulkWriter::state"],
        "replicator/source/postgres/read/outbox_maintenance.cc": ["PostgresOutboxMaintenance::unfollowed_parts"],
        "replicator/source/pipeline_status.cc": ["in_words"],
        "replicator/unknown_value.cc": ["unknown_value", "unfit_value"]}
LEAST = 13  # characters: a shorter text is a word, not a warning

# A text is put together from literals, values and what joins them.
NESTED = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
SQL_PARTS = (r"'(?:[^']|'')*'", rf"[a-z_][\w.]*(?:{NESTED})?(?:::\w+)?", r"\s*\|\|\s*")
CODE_PARTS = (r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*', rf"(?:(?:[\w.:]|->)+(?:{NESTED})?(?:->\w+)?|{NESTED})", r"\s*\+\s*")


def unquoted(literal):
    if literal.startswith("'"):
        return literal[1:-1].replace("''", "'")
    return re.sub(r'"\s*"', "", literal)[1:-1].replace('\\"', '"')


def texts(code, literal, value, join):
    """Each text in the code, with "…" for a value."""
    for found in re.finditer(rf"(?:{value}{join})*{literal}(?:{join}(?:{literal}|{value}))*", code):
        parts = re.finditer(rf"(?P<literal>{literal})|{value}", found[0])
        yield "".join(unquoted(each["literal"]) if each["literal"] else "…" for each in parts)


def function(code, name):
    """Its body, or the bodies of all with this name."""
    return "\n".join(re.findall(rf"^[^\n]*\b{name}\([^;]*?\{{\n(.*?)^\}}", code, re.MULTILINE | re.DOTALL))


def statement(code, name):
    """Its text without comments."""
    return re.sub(r"^\s*--.*", "", code.split(f"-- name: {name}\n")[1].split("\n-- name: ")[0], flags=re.MULTILINE)


def warnings():
    """Each text that `status` may warn with, by file."""
    for path, name in SQL.items():
        yield from ((path, text) for text in texts(statement((ROOT / path).read_text(), name), *SQL_PARTS))
    for path, functions in CODE.items():
        for name in functions:
            yield from ((path, text) for text in texts(function((ROOT / path).read_text(), name), *CODE_PARTS))


def long_warnings():
    """Those that are more than a word, or than the remedy at the end of others."""
    return [(path, text) for path, text in warnings()
            if len(text.replace("…", "")) >= LEAST and text.count(" ") > 2 and not text.startswith("…;")]


def documented():
    """The table "Every warning": a pattern of a warning, and where it leads."""
    section = (ROOT / "docs/operations.md").read_text().split("### Every warning of `status`\n")[1].split("\n### ")[0]
    return re.findall(r"^\| (`.*`) \| (\[.*?\]\(.*?\))", section, re.MULTILINE)


def patterns():
    for names, _ in documented():
        for name in re.findall(r"`` (.*?) ``|`([^`]+)`", names):
            yield "".join(name)


def says(warning, pattern):
    return re.search(".*".join(re.escape(part) for part in pattern.split("…")), warning) is not None


class Runbook(unittest.TestCase):
    def test_every_warning_is_in_the_table(self):
        missing = [f"{path}: {text}" for path, text in long_warnings() if not any(says(text, each) for each in patterns())]
        self.assertEqual(missing, [], "\n" + "\n".join(missing))
        self.assertGreater(len(long_warnings()), 15)

    def test_every_line_of_the_table_is_a_warning(self):
        texts = [text for _, text in long_warnings()]
        invented = [each for each in patterns() if not any(says(text, each) for text in texts)]
        self.assertEqual(invented, [], "\n" + "\n".join(invented))
        self.assertGreater(len(list(patterns())), 10)


if __name__ == "__main__":
    unittest.main()
