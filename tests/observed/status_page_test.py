"""The status page of a running service, as a person sees it in a browser."""
import json
import unittest

from browser import Browser, wait_until
from shop import Shop

VALUE = "value-of-a-row"


class StatusPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shop = Shop()
        cls.addClassCleanup(cls.shop.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def open(self, **window):
        """The page as somebody sees it who opens it now; `window` asks for another one than the usual."""
        browser = self.browser
        if window:
            browser = Browser(**window)
            self.addCleanup(browser.close)
        browser.complaints()  # of the page before
        browser.open(self.shop.url)
        self.assertTrue(browser.shows(self.shop.name), browser.text())
        return browser

    def test_it_says_in_a_word_how_the_pipeline_is_and_who_runs_it(self):
        browser = self.open()
        self.assertTrue(wait_until(lambda: browser.text("h1") in ("✓ Following", "! Needs attention")), browser.text())
        self.assertTrue(browser.shows(f"process {self.shop.service.pid}, since", "#facts"), browser.text("#facts"))
        self.assertIn("✓ answers", browser.text("#facts"))
        self.assertTrue(browser.shows("no process takes over", "#facts"), browser.text("#facts"))
        self.assertIn("shop · lockstep", browser.run("return document.title"))
        self.assertEqual(browser.complaints(), [])

    def test_it_names_who_stands_by_and_a_standby_has_a_page_too(self):
        config, url = self.shop.configure("standby")
        standby = self.shop.run(config)
        self.addCleanup(standby.wait)
        self.addCleanup(standby.kill)
        browser = self.open()
        self.assertTrue(wait_until(lambda: "no process takes over" not in browser.text("#facts") and "since" in browser.text("#facts")))
        browser.open(url)
        self.assertTrue(browser.shows("✓ Standing by", "h1"), browser.text())
        self.assertTrue(browser.shows(f"process {self.shop.service.pid}, since", "#facts"), browser.text("#facts"))

    def test_the_chart_moves_with_what_is_written(self):
        browser = self.open()
        line = "return document.querySelector('#rate-chart .line').getAttribute('d')"
        before = browser.run(line)
        self.shop.sql("update public.product set price = (id + 1)::text where id > 1")
        self.assertTrue(wait_until(lambda: browser.run(line) != before))
        self.assertTrue(browser.shows("/s", "#rate-chart output"))
        self.assertIn("in the last hour", browser.run("return document.querySelector('#rate-chart svg').getAttribute('aria-label')"))
        browser.press("#rate-chart", "\ue012")  # the left arrow
        self.assertIn("ago", browser.text("#rate-chart output"))

    def test_a_dead_letter_is_shown_by_its_error_and_with_help_but_without_its_values(self):
        browser = self.open()
        self.shop.sql(f"update public.product set price = '{VALUE}' where id = 1")
        self.assertTrue(browser.shows("mapper_parsing_exception", "#letters"), browser.text())
        self.assertEqual(browser.text("h1"), "! Needs attention")
        self.assertIn("1 dead letter", browser.text("#text"))
        browser.click("#letters a")
        self.assertEqual(browser.run("return document.querySelector(':target').textContent"), "mapper_parsing_exception")
        self.assertNotIn(VALUE, browser.text())
        self.assertNotIn(VALUE, json.dumps(self.shop.status()))
        self.shop.sql("update public.product set price = '1' where id = 1")
        self.assertTrue(browser.shows("✓ Following", "h1"), browser.text())
        self.assertTrue(wait_until(lambda: browser.text("#letters") == ""), browser.text("#letters"))

    def test_what_is_due_jobs_generations_warnings_and_what_is_not_followed_are_told_with_numbers(self):
        browser = self.open()
        status = self.shop.status()
        status["headline"] = {"tone": "warn", "word": "Needs attention", "text": "One index is not followed"}
        status["warnings"] = ["a <b>trigger</b> is missing"]
        status["reindexes"] = [{"alias": self.shop.name, "state": "filling", "live": "one-000001", "beside": "one-000002",
                                "keep_seconds": None, "waits": False, "failed": False}]
        status["slo"] = {"lag_seconds": 2, "share": 0.98765, "known_seconds": 86350}
        status["standbys"] = [{"host": "10.0.0.7", "since": "2026-01-31T12:00:00Z"}]
        status["indices"][0].update(
            set_aside=True,
            due={"documents": 16200, "changes": 0, "oldest_seconds": 2.1, "reason": "a change of many documents",
                 "documents_per_second": 8100.0, "seconds_left": 2.0},
            jobs=[{"kind": "comparison", "reason": "it was restored", "done": 120000, "total": 300000, "seconds_left": 42.0,
                   "unreadable": False}])
        told = "const told = arguments[0]; window.fetch = async () => ({ ok: true, json: async () => told }); refresh()"
        browser.run(told, status)
        self.assertTrue(browser.shows("120,000 of about 300,000 documents (40 %), about 42.0 s left", "#jobs"), browser.text())
        self.assertEqual(browser.run("return document.querySelector('progress').position"), 0.4)
        self.assertIn("a change of many documents", browser.text("#due"))
        self.assertIn("16,200 documents, the oldest for 2.1 s, 8,100/s, about 2.0 s left", browser.text("#due"))
        self.assertIn("a <b>trigger</b> is missing", browser.text("#attention"))
        self.assertIn("is not followed", browser.text("#attention"))
        self.assertIn("one-000001, and one-000002: filling", browser.text("#indices"))
        self.assertIn("10.0.0.7", browser.text("#facts"))
        self.assertIn("within 2.0 s for 98.76 % of the last day", browser.text("#facts"))
        status["indices"][0]["due"].update(documents=1, changes=3, documents_per_second=0, seconds_left=None)
        browser.run(told, status)
        self.assertTrue(browser.shows("1 document, and changes whose documents are still to be found, the oldest for 2.1 s", "#due"),
                        browser.text("#due"))

    def test_a_phone_needs_no_sideways_scrolling(self):
        browser = self.open(width=375, height=800)
        self.assertTrue(browser.shows("answers", "#facts"))
        self.assertEqual(browser.run("return [document.documentElement.scrollWidth, innerWidth]"), [375, 375])

    def test_dark_and_light_are_what_the_reader_has_chosen_and_easy_to_read(self):
        for scheme, window in (("light", {}), ("dark", {"scheme": "dark"})):
            with self.subTest(scheme):
                browser = self.open(**window)
                back, *pairs = browser.run(CONTRASTS)
                self.assertEqual(luminance(back) < 0.2, scheme == "dark")
                for name, text, behind in pairs:
                    self.assertGreaterEqual(contrast(text, behind), 4.5, f"{name}: {text} on {behind}")

    def test_who_cannot_see_it_finds_their_way(self):
        browser = self.open()
        self.assertEqual(browser.run("return ['header', 'main', 'footer', 'h1'].map(tag => document.querySelectorAll(tag).length)"),
                         [1, 1, 1, 1])
        self.assertEqual(browser.run("return document.documentElement.lang"), "en")
        unnamed = "return [...document.querySelectorAll('section, table, figure svg, progress')].filter(" \
                  "each => !each.hasAttribute('aria-label') && !document.getElementById(each.getAttribute('aria-labelledby'))).length"
        self.assertEqual(browser.run(unnamed), 0)
        self.assertGreater(browser.run("return document.querySelectorAll('#indices th[scope=col]').length"), 3)
        self.assertEqual(browser.run("return document.querySelectorAll('#indices tbody th[scope=row]').length"), 1)

    def test_a_page_whose_service_is_gone_says_so_and_since_when(self):
        browser = self.open()
        self.shop.kill()
        try:
            self.assertTrue(browser.shows("The service is not answering since "), browser.text())
            self.assertRegex(browser.text("#gone"), r"since \d\d:\d\d:\d\d\.")
            self.assertEqual(browser.text("h1"), "✕ Not answering")
            self.assertIn("Not answering", browser.run("return document.title"))
        finally:
            self.shop.start()
        self.assertTrue(browser.shows("✓ Following", "h1"), browser.text())
        self.assertEqual(browser.text("#gone"), "")


# The colour of the page, and of the texts whose colour means something, with what is behind each.
CONTRASTS = """
const style = getComputedStyle(document.documentElement), color = name => style.getPropertyValue(name).trim();
const pairs = [['text', '--text', '--card'], ['soft', '--soft', '--card'], ['soft on the page', '--soft', '--back'],
               ['link', '--link', '--card'], ['bad', '--bad', '--card'], ['warn', '--warn', '--card'], ['good', '--good', '--card'],
               ['gone', '--card', '--bad']];
for (const tone of ['good', 'busy', 'warn', 'bad']) {
  pairs.push([`headline ${tone}`, `--${tone}`, `--${tone}-back`], [`text ${tone}`, '--text', `--${tone}-back`]);
}
return [color('--back'), ...pairs.map(([name, text, behind]) => [name, color(text), color(behind)])];
"""


def luminance(color):
    """Of #rgb or #rrggbb, as WCAG defines it."""
    digits = color[1:] if len(color) == 7 else "".join(digit * 2 for digit in color[1:])
    parts = [int(digits[at:at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


if __name__ == "__main__":
    unittest.main()
