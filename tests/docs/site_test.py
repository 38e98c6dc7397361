"""The site that scripts/docs makes: every link leads somewhere, every page of docs/ is in its list, nothing comes from elsewhere, and
the search knows the pages."""
import html.parser
import json
import pathlib
import re
import subprocess
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Page(html.parser.HTMLParser):
    """The links, the anchors and what is loaded."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.loaded = [], set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(filter(None, (values.get("id"), values.get("name"))))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in ("script", "img", "iframe") and "src" in values:
            self.loaded.append(values["src"])
        if tag == "link" and values.get("rel") in ("stylesheet", "shortcut icon", "icon", "preload"):
            self.loaded.append(values["href"])


def is_foreign(target):
    return re.match(r"^(?:[a-z][a-z0-9+.-]*:|//)", target) is not None


def dead_links(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    found = []
    for path, page in pages.items():
        if path.name in ("404.html", "search.html"):  # their links begin at the root of a server
            continue
        for target in page.links + page.loaded:
            if is_foreign(target):
                continue
            name, _, anchor = urllib.parse.unquote(target).partition("#")
            file = (path.parent / name).resolve() if name else path
            if file.is_dir():
                file = file / "index.html"
            if not file.exists():
                found.append(f"{path.relative_to(site)}: there is no {target}")
            elif anchor and file in pages and anchor not in pages[file].anchors:
                found.append(f"{path.relative_to(site)}: {name} has no {anchor}")
    return found


class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        made = subprocess.run([ROOT / "scripts" / "docs", "--output", f"{folder.name}/site"], capture_output=True, text=True, timeout=120)
        if made.returncode != 0:
            raise cls.failureException(f"scripts/docs: {made.stderr}")
        cls.first = pathlib.Path(made.stdout.strip())
        cls.site = cls.first.parent.resolve()

    def test_every_link_leads_somewhere(self):
        found = dead_links(self.site)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_a_dead_link_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder).resolve()
            (site / "a.html").write_text('<h1 id="here"></h1><a href="#here"></a><a href="b.html"></a><a href="a.html#there"></a><img src="c.svg">')
            self.assertEqual(len(dead_links(site)), 3)

    def test_every_page_of_docs_is_in_the_list(self):
        listed = {urllib.parse.unquote(link.partition("#")[0]) for link in Page(self.first).links}
        pages = [path for path in self.site.glob("docs/*.html")]
        self.assertGreater(len(pages), 10)
        missing = [path.name for path in pages if f"docs/{path.name}" not in listed]
        self.assertEqual(missing, [], "add them to nav in scripts/lib/mkdocs.yml")

    def test_nothing_comes_from_elsewhere(self):
        for path in self.site.rglob("*.html"):
            self.assertEqual([target for target in Page(path).loaded if is_foreign(target)], [], path.name)

    def test_the_search_knows_the_pages(self):
        index = json.loads((self.site / "search" / "search_index.json").read_text())
        pages = {entry["location"].partition("#")[0] for entry in index["docs"] if "max_outbox_size" in entry["text"]}
        self.assertIn("docs/configuration.html", pages)


if __name__ == "__main__":
    unittest.main()
