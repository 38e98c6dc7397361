"""The documentation keeps together: every link between its pages leads somewhere, and prose wraps at 120 characters."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 120

FENCE = re.compile(r"^\s*(```+|~~~+)")
CODE = re.compile(r"(`+).+?(?<!`)\1(?!`)")
INLINE = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+\"[^\"]*\")?\)")
IMAGE = re.compile(r"!\[[^\]]*\]\(([^\s()]+)[^()]*\)")
REFERENCE = re.compile(r"^\s{0,3}\[[^\]]+\]:\s+<?([^\s<>]+)>?")
HTML = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)=\"([^\"]+)\"")
ANCHOR = re.compile(r"<a\b[^>]*?\b(?:id|name)=\"([^\"]+)\"")
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
FOREIGN = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)


def pages() -> list[pathlib.Path]:
    tracked = subprocess.run(["git", "ls-files", "-z", "--", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / path for path in tracked.stdout.split("\0") if path and (ROOT / path).exists()]


def prose(text: str) -> list[tuple[int, str]]:
    """The lines outside of code blocks, each with its number."""
    lines, fence = [], None
    for number, line in enumerate(text.split("\n"), 1):
        mark = FENCE.match(line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is None:
            lines.append((number, line))
        elif mark and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = None
    return lines


def anchors(text: str) -> set[str]:
    """The anchors of a page: what GitHub makes of its headings, and those in its HTML."""
    found = set()
    for _, line in prose(text):
        found.update(ANCHOR.findall(line))
        heading = HEADING.match(line)
        if not heading:
            continue
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        name, number = slug, 0
        while name in found:
            number += 1
            name = f"{slug}-{number}"
        found.add(name)
    return found


def links(text: str) -> list[tuple[int, str]]:
    """The targets of links and images, each with the number of its line."""
    found = []
    for number, line in prose(text):
        line = CODE.sub("`code`", line)
        targets = set(INLINE.findall(line)) | set(IMAGE.findall(line)) | set(REFERENCE.findall(line)) | set(HTML.findall(line))
        found += [(number, target) for target in sorted(targets)]
    return found


def broken_links(page: pathlib.Path, text: str) -> list[str]:
    found = []
    for number, target in links(text):
        if FOREIGN.match(target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        where = f"{page.relative_to(ROOT)}:{number}"
        if not target or (path and not (file.is_relative_to(ROOT) and file.exists())):
            found.append(f"{where}: there is no {target or 'target'}")
        elif anchor and file.suffix == ".md" and anchor not in anchors(text if file == page else file.read_text()):
            found.append(f"{where}: {path or page.name} has no heading for #{anchor}")
    return found


def long_lines(text: str) -> list[int]:
    """The numbers of the lines of prose that are too long. A table or a URL cannot be wrapped."""
    return [
        number
        for number, line in prose(text)
        if len(line) > WIDTH and not line.lstrip().startswith("|") and not re.search(r"https?://", line)
    ]


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        found = [fault for page in pages() for fault in broken_links(page, page.read_text())]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_prose_wraps_at_120_characters(self):
        found = [f"{page.relative_to(ROOT)}:{number}" for page in pages() for number in long_lines(page.read_text())]
        self.assertEqual(found, [], f"\nlonger than {WIDTH} characters: " + ", ".join(found))

    def test_a_broken_link_is_found(self):
        page = ROOT / "docs" / "page.md"
        heading = "# What it's `for`, in short\n"
        for text in [
            "[x](missing.md)",
            "![x](benchmarks/missing.svg)",
            "[![x](missing.svg)](../README.md)",
            "[x](#missing)",
            "[x](../README.md#missing)",
            "[x](../../outside.md)",
            "[x]: missing.md",
            '<img src="missing.svg">',
            "```\n# missing\n```\n[x](#missing)",
        ]:
            self.assertEqual(len(broken_links(page, heading + text)), 1, text)
        for text in [
            "[x](../README.md)",
            "[x](decisions)",
            "[x](#what-its-for-in-short)",
            "[x](https://example.org/missing)",
            "`[x](missing.md)`",
            "```\n[x](missing.md)\n```",
            "## Again\n## Again\n[x](#again-1)",
        ]:
            self.assertEqual(broken_links(page, heading + text), [], text)

    def test_a_long_line_is_found(self):
        self.assertEqual(long_lines("ä" * WIDTH + "\n" + "x" * (WIDTH + 1)), [2])
        for text in ["| " + "x" * WIDTH + " |", "```\n" + "x" * (WIDTH + 1) + "\n```", "https://example.org/" + "x" * WIDTH]:
            self.assertEqual(long_lines(text), [], text)


if __name__ == "__main__":
    unittest.main()
