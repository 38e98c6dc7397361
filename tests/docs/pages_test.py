"""README.md and docs/ keep to the words of tests/words.toml, call the product Lockstep and the command `lockstep`, and to their lengths."""
import pathlib
import re
import sys
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "rules"))
from links_test import CODE, pages, prose  # noqa: E402

WORDS = {word: entry["instead"] for entry in tomllib.loads((ROOT / "tests/words.toml").read_text())["avoid"]
         if not entry.get("program", False) for word in entry["words"]}
# Pages, and how many words they may have together: `wc -w`. A page that grows takes words away elsewhere.
LENGTHS = [
    ("README.md", 700),
    ("installing.md", 800),
    ("first-index.md", 1500),
    ("howto-rails.md", 500),
    ("howto-django.md", 500),
    ("howto-prisma.md", 500),
    ("howto-hibernate.md", 500),
    ("configuration.md", 2200),
    ("command-line.md", 1500),
    ("concepts.md", 1800),
    ("production.md security.md managed-databases.md", 2300),
    ("migrations.md", 2000),
    ("operations.md dead-letters.md", 3500),
    ("monitoring.md", 2000),
    ("verify.md wait.md", 1000),
    ("backups.md sizing.md", 1200),
    ("sqlite.md", 1500),
    ("comparison.md coming-from-pgsync.md coming-from-logstash.md coming-from-debezium.md", 2500),
    ("faq.md", 700),
    ("reliability.md benchmarks.md", 2500),
    ("scale.md", 550),
    ("locks.md", 3500),
    ("lock-protocol.md", 2450),
    ("tutorial.md", 1500),
    ("development.md", 1150),
]
LINK = re.compile(r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*\)")
PRODUCT = re.compile(r"(?<![\w./@-])lockstep(?![\w./@-]|\.\w)")


def read_pages():
    """README.md and the pages of docs/ itself."""
    return [page for page in pages() if page.parent == ROOT / "docs" or page == ROOT / "README.md"]


def plain(text):
    """The text with its lines, without blocks and spans of code, HTML, and the targets of links."""
    lines = [""] * (text.count("\n") + 1)
    for number, line in prose(text):
        lines[number - 1] = line
    text = re.sub(r"<!--.*?-->|<[^>\n]+>", "", "\n".join(lines))
    return LINK.sub("]", CODE.sub("code", text))


def found_in(text):
    """The line, the word and what to write instead, of each word in a text."""
    text = plain(text)
    found = []
    for word, instead in WORDS.items():
        for match in re.finditer(rf"(?<![\w-]){word}(?![\w-])".replace(" ", r"\s+"), text, re.IGNORECASE):
            found.append((text.count("\n", 0, match.start()) + 1, match[0], instead))
    for match in PRODUCT.finditer(text):
        found.append((text.count("\n", 0, match.start()) + 1, match[0], "Lockstep for the product, `lockstep` for the command"))
    return sorted(found)


class Words(unittest.TestCase):
    def test_no_page_uses_a_word_that_has_a_better_one(self):
        faults = [f'{page.relative_to(ROOT)}:{line}: "{word}"; write: {instead}'
                  for page in read_pages() for line, word, instead in found_in(page.read_text())]
        self.assertEqual(faults, [], "\n" + "\n".join(faults))

    def test_a_word_is_found_in_text_and_not_in_code(self):
        for text, line in [("It says so.", 1), ("a\nIt goes\non.", 2), ("Nobody leads", 1), ("the index lockstep writes", 1),
                           ("[whoever](x.md)", 1), ("## Beside it", 1)]:
            self.assertEqual([each[0] for each in found_in(text)], [line], text)
        for text in ["`says`", "```\nit says so\n```", "besides", "[x](beside.md)", "the `lockstep` command", "lockstep.toml",
                     "/etc/lockstep/x", "lockstep-locks", "<!-- says -->"]:
            self.assertEqual(found_in(text), [], text)


class Lengths(unittest.TestCase):
    def test_no_page_is_longer_than_it_may_be(self):
        faults = []
        for names, most in LENGTHS:
            files = [ROOT / name if name == "README.md" else ROOT / "docs" / name for name in names.split()]
            words = sum(len(file.read_text().split()) for file in files if file.exists())
            if words > most:
                faults.append(f"{names}: {words} words, at most {most}")
        self.assertEqual(faults, [], "\n" + "\n".join(faults))

    def test_every_page_has_a_length(self):
        known = [name for names, _ in LENGTHS for name in names.split()]
        self.assertEqual(len(known), len(set(known)))
        missing = [page.name for page in read_pages() if page.name not in known]
        self.assertEqual(missing, [], "give each of these pages a length in LENGTHS of tests/docs/pages_test.py")


class Warnings(unittest.TestCase):
    """tests/unit/base/warnings_test.cc compares the page with the program's warnings; here are those that a statement makes itself."""

    def test_the_runbook_has_each_warning_of_a_trigger_function(self):
        page = (ROOT / "docs/operations.md").read_text()
        table = page.split("### Every warning of `status`\n")[1].split("\n###")[0]
        patterns = [".*".join(map(re.escape, words.split("…"))) for words in re.findall(r"`([^`]+)`", table)]
        texts = [text for file in (ROOT / "replicator/source").rglob("*.sql")
                 for text in re.findall(r"format\('([^']*; run `lockstep apply`)'", file.read_text())]
        self.assertTrue(texts)
        self.assertEqual([text for text in texts if not any(re.search(pattern, text) for pattern in patterns)], [])


if __name__ == "__main__":
    unittest.main()
