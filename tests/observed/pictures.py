#!/usr/bin/env python3
"""Makes docs/pictures/status-page.png and terminal.svg from a run of the tutorial's shop, while 20,000 documents are written again.
`scripts/docs --pictures` starts the servers for it."""
import html
import pathlib
import re
import socket
import threading
import time

from browser import Browser, wait_until
from printed import Page, Session
from shop import ROOT, psql

PICTURES = pathlib.Path(ROOT, "docs/pictures")
WIDTH, HEIGHT = 1000, 720
QUIET_SECONDS = 15  # of small changes alone, for the charts
ATTEMPTS = 8
EVERYTHING = "update shop.products set name = name || ' 2'"
SMALL = "update shop.orders set status = 'sent' where id between {0} and {0} + 5"

# Names of this run become those of the pages.
RENAMED = """
const names = arguments[0], asked = window.fetch;
window.fetch = async (...request) => {
  const reply = await asked(...request);
  return new Response(names.reduce((text, [ours, theirs]) => text.replaceAll(ours, theirs), await reply.text()), { status: reply.status });
};
"""
CELL, LINE, MARGIN = 8.4, 19, 16
STYLES = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "34": "c", "35": "c", "36": "c", "90": "d", "91": "r", "92": "g", "93": "y"}
LOOK = """text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d6dbe1; white-space: pre }
.b { font-weight: bold; fill: #fff } .d { fill: #8b949e } .r { fill: #ff8b82 } .g { fill: #7ee2a0 } .y { fill: #f2cc60 } .c { fill: #86c2ff }"""


def spans(line):
    """A line with colours as spans of SVG."""
    found, style = "", ""
    for code, text in re.findall(r"(?:\x1b\[([0-9;]*)m)?([^\x1b]*)", line):
        if code:
            style = next((STYLES[each] for each in code.split(";")[::-1] if each in STYLES), "")
        if text:
            found += f'<tspan class="{style}">{html.escape(text)}</tspan>' if style else html.escape(text)
    return found


def drawing(lines, title):
    """Lines of a terminal as an SVG."""
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    width, height = round(max(map(len, plain)) * CELL + 2 * MARGIN), len(lines) * LINE + 2 * MARGIN
    text = "\n".join(f'<text x="{MARGIN}" y="{MARGIN + (number + 0.75) * LINE:g}">{spans(line)}</text>' for number, line in enumerate(lines))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">\n'
            f"<title>{html.escape(title)}</title>\n<style>{LOOK}</style>\n"
            f'<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>\n{text}\n</svg>\n')


def last_screen(output):
    """The lines that were drawn last, whole, with their colours."""
    drawn = output.split("\x1b[H")[-2]
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-LN-Za-ln-z]", "", drawn).replace("\r", "")
    lines = [re.sub(r"(\s|\x1b\[m)+$", "", line) for line in drawn.split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def with_time_left(watch):
    """What a watch shows, if it shows how long due documents take."""
    lines = last_screen(watch.printed())
    return lines if any(" left" in line for line in lines) else None


class SmallChanges(threading.Thread):
    """Changes a few rows, again and again."""

    def __init__(self, database):
        super().__init__(daemon=True)
        self.database, self.over = database, threading.Event()

    def run(self):
        number = 1
        while not self.over.wait(0.15):
            psql(self.database, SMALL.format(number))
            number = (number + 97) % 19_000


def begin(session):
    """The shop of the tutorial, followed and with a status page."""
    tutorial = Page("docs/tutorial.md")
    for block in tutorial.blocks:
        session.play(tutorial, block)
        if block.text.startswith("$ lockstep run"):
            return


def main():
    session = Session()
    try:
        begin(session)
        database = session.postgresql.rpartition("/")[0] + "/" + session.database
        changes = SmallChanges(database)
        changes.start()
        with Browser(width=WIDTH, height=HEIGHT) as browser:
            browser.open(f"http://{session.http}/")
            browser.run(RENAMED, [[session.alias, "orders"], [session.database, "shop"], [socket.gethostname(), "db1"]])
            watch = session.terminal("lockstep status --watch")
            session.services.append(watch)
            time.sleep(QUIET_SECONDS)
            page = lines = None
            for _ in range(ATTEMPTS):  # it may be over before a time that is left can be told
                psql(database, EVERYTHING)
                if not page and wait_until(lambda: re.search(r"[\d,]+ documents.* left", browser.text("#due")), 6):
                    page = browser.save_picture(PICTURES / "status-page.png")
                lines = lines or wait_until(lambda: with_time_left(watch), 6)
                if page and lines:
                    break
            else:
                raise SystemExit(f"page or terminal never showed due documents: {browser.text()}\n{last_screen(watch.printed())}")
            lines = [session.theirs(line).replace(socket.gethostname(), "db1") for line in lines]
        (PICTURES / "terminal.svg").write_text(drawing(lines, "lockstep status --watch"))
        changes.over.set()
        print(page, PICTURES / "terminal.svg", sep="\n")
    finally:
        session.close()


if __name__ == "__main__":
    main()
