"""Nineteen methods of a source were called by no test of its contract: each virtual method has to be."""
import glob
import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")

# How the suite names an object of each class.
RECEIVERS = {
    "Source": r"\b(source_|source|observer|second|other\(\))(->|\.)",
    "Lead": r"\blead\(\)\.",
    "ChangeLog": r"\bchanges\(\)\.",
    "DeadLetterBox": r"\b(dead_letters\(\)|box)\.",
    "OutboxMaintenance": r"\boutbox\(\)\.",
    "Reindexes": r"\breindexes\(\)\.",
    "SourceSnapshot": r"\b(snapshot|transaction|before|read\(\)|begin\(\))(->|\.)",
    "SourceTransaction": r"\b(transaction|page|begin\(\))(->|\.)",
    "AppliedPoint": r"\bpoint->",
    "PageConnection": r"\b(connection_->|connection\(\)\.)",
    "AppliedWatch": r"\bwatch(\(\))?->",
    "StatusWriter": r"\b(writer|status_writer\(\))->",
    "StatusReader": r"\b(reader|status\(\))->",
    "SourceDefinition": r"\b(definition|definition\([\w:]+\))->",
}

# `init` reads tables and drafts SQL with them: tests/integration/init_test.cc and sqlite_init_test.cc run what comes out.
# `adopt` reads views that nobody has applied: tests/integration/adopt_test.cc, tests/unit/source/sqlite/view_reader_test.cc.
UNDER_NO_CONTRACT = {"SchemaReader", "SqlDialect", "ViewReader"}


def virtual_methods():
    """By class: the names of its virtual methods."""
    methods = {}
    for header in glob.glob(os.path.join(ROOT, "replicator", "source", "*.h")):
        with open(header, encoding="utf-8") as text:
            lines = re.sub(r"//.*", "", text.read())
        for block in re.split(r"\nclass (?=\w+[^;{]*\{)", lines)[1:]:
            body = block.split("\n};")[0]
            names = re.findall(r"\bvirtual [^~;]*?\b(\w+)\(", body)
            name = re.match(r"\w+", block).group()
            if names and name not in UNDER_NO_CONTRACT:
                methods[name] = names
    return methods


def suite():
    texts = []
    for source in sorted(glob.glob(os.path.join(ROOT, "tests", "contract", "source_contract*.cc"))):
        with open(source, encoding="utf-8") as text:
            texts.append(re.sub(r"//.*", "", text.read()))
    return "\n".join(texts)


class MethodsOfASourceThatNoTestCalls(unittest.TestCase):
    def test_there_are_none(self):
        text = suite()
        missing = [f"{name}::{method}" for name, methods in virtual_methods().items() for method in methods
                   if not re.search(RECEIVERS[name] + method + r"\(", text)]
        self.assertEqual(missing, [])

    def test_every_contract_is_read(self):
        self.assertEqual(set(virtual_methods()), set(RECEIVERS))
        self.assertGreater(sum(map(len, virtual_methods().values())), 60)


if __name__ == "__main__":
    unittest.main()
