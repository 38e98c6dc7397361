"""The texts that users see keep to the words of tests/words.toml: string literals of replicator/ with a space in them, the texts of
the status page, and the messages in SQL. Comments and names are not looked at."""
import functools
import html
import pathlib
import re
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = ROOT / "tests/words.toml"

# Comments and characters come first, so that a quotation mark in them opens no literal.
CODE = re.compile(r"""//[^\n]* | /\*.*?\*/ | \#include[^\n]* | R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)" | "(?P<text>(?:[^"\\\n]|\\.)*)"
                      | '(?:[^'\\\n]|\\.)+'""", re.DOTALL | re.VERBOSE)
SCRIPT = re.compile(r"""//[^\n]* | /\*.*?\*/ | '(?P<text>(?:[^'\\\n]|\\.)*)' | `(?P<raw>[^`]*)`""", re.DOTALL | re.VERBOSE)
STATEMENT = re.compile(r"""--[^\n]* | '(?P<text>(?:[^']|'')*)'(?P<raw>)""", re.VERBOSE)
PAGE = re.compile(r"""<!--.*?--> | <[^>]*> | (?P<text>[^<]+)(?P<raw>)""", re.DOTALL | re.VERBOSE)
SQL = re.compile(r"\bselect\b.*\bfrom\b|\binsert into\b|\bupdate \S+ set\b|\bdelete from\b|\b(left )?join \S+_\w+ as\b|\bexists \(select\b",
                 re.DOTALL)
SYNTAX = {".cc": CODE, ".h": CODE, ".js": SCRIPT, ".sql": STATEMENT, ".html": PAGE}


@functools.cache
def avoided():
    """A pattern of the words of each entry, and what to write instead."""
    def pattern(words):
        return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, words))})(?![\w-])", re.IGNORECASE)
    return [(pattern(entry["words"]), entry["instead"]) for entry in tomllib.loads(WORDS.read_text())["avoid"]]


def texts(source, syntax):
    """Each text with a space in it and the line where it begins. C++ literals that follow one another are one text."""
    joined = []
    for found in syntax.finditer(source):
        text = found["text"] if found["text"] is not None else found["raw"]
        if text is None:
            continue
        if joined and syntax is CODE and not source[joined[-1][2]:found.start()].strip():
            joined[-1][1] += text
            joined[-1][2] = found.end()
        else:
            joined.append([source.count("\n", 0, found.start()) + 1, text, found.end()])
    for line, text, _ in joined:
        if syntax is PAGE:
            text = html.unescape(text)
        if syntax is SCRIPT:
            text = re.sub(r"\$\{[^}]*\}", "…", text)
        if " " in text.strip() and not SQL.search(text):
            yield line, " ".join(text.split())


def faults(source, syntax):
    for line, text in texts(source, syntax):
        for pattern, instead in avoided():
            if found := pattern.search(text):
                yield line, f'"{found[0]}" in "{text}"; instead: {instead}'


class Words(unittest.TestCase):
    def test_the_texts_of_the_program_keep_to_them(self):
        found, count = [], 0
        for path in sorted((ROOT / "replicator").rglob("*")):
            syntax = SYNTAX.get(path.suffix)
            if syntax is None:
                continue
            source = path.read_text()
            count += sum(1 for _ in texts(source, syntax))
            found += [f"{path.relative_to(ROOT)}:{line}: {fault}" for line, fault in faults(source, syntax)]
        self.assertGreater(count, 1500)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_a_fault_is_found_where_it_is(self):
        for source, syntax, lines in [
            ('f("all is well");\n// nobody\nf("one "\n  "nobody leads");', CODE, [3]),
            ('f(\'"\'); f("nobody"); f("no body"); // "it goes on"', CODE, []),
            ('R"sql(select beside from reindex)sql"', CODE, []),
            ("g('the leader stands\\n for it');", SCRIPT, []),
            ("g('an alias stands for it');", SCRIPT, [1]),
            ("-- what is due\nselect 'it''s what is due';", STATEMENT, [2]),
            ('<p title="nobody knows">\nMend that</p>', PAGE, [1]),
        ]:
            self.assertEqual([line for line, _ in faults(source, syntax)], lines, source)


if __name__ == "__main__":
    unittest.main()
