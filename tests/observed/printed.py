"""What pages print: the commands of their blocks ```console are run at a terminal, and what they print is compared, or written into the
page if LOCKSTEP_WRITE_PAGES is set."""
import fcntl
import getpass
import os
import pathlib
import pty
import random
import re
import select
import signal
import socket
import string
import struct
import subprocess
import tempfile
import termios
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

from browser import free_port, wait_until
from shop import PROGRAM, ROOT, psql, server

PATIENCE = 120
COLUMNS = 120
LONGEST = 160  # line that a page shows whole
WRITES = bool(os.environ.get("LOCKSTEP_WRITE_PAGES"))
INTERRUPT = "^C"  # ends the service that was started last
REST = "…"  # as a line: any lines; at the end of a line: any rest of it

# What differs from run to run. Both sides are compared without it.
VARIES = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "TIME"),
    (r"\b\d\d:\d\d:\d\d(\.\d+)?\b", "TIME"),
    (r"\b\d+(\.\d+)? (us|ms|s|min|h|d)\b( \d+ (s|min|h)\b)?", "DURATION"),
    (r"\b[\d,.]+/s\b", "RATE"),
    (r"\b[\d,.]+ ([KMG]iB|B)\b", "SIZE"),
    (r"\b(PostgreSQL|Elasticsearch|OpenSearch) \d[\d.]*", r"\1 VERSION"),
    (r"\b(process|session|epoch) \d+", r"\1 N"),
    (r"\bby [\w.-]+ on [\w.-]+$", "by USER on HOST"),
    (r"\bof [\w.-]+ \(lockstep", "of USER (lockstep"),
    (r"\b(leader +)[\w.-]+,", r"\1HOST,"),
    (r"\b(version +)\d+$", r"\1N"),
    (r" +", " "),  # columns are as wide as what they have
]


def comparable(text):
    for pattern, name in VARIES:
        text = re.sub(pattern, name, text, flags=re.MULTILINE)
    return text


class Block:
    """A block of code: where its text is in the page, its language, and the file that the line before it names."""

    def __init__(self, match):
        self.language, self.text = match["language"], match["text"]
        self.begin, self.end = match.span("text")
        named = re.search(r"Save this as `([\w./-]+)`:$", match["before"])
        self.file = named and named[1]

    def steps(self):
        """Commands, each with what the page shows of its output."""
        found = []
        for line in self.text.splitlines():
            if line.startswith("$ ") or line == INTERRUPT:
                found.append((line.removeprefix("$ "), []))
            elif line.startswith("> ") and not found[-1][1]:
                found[-1] = (f"{found[-1][0]}\n{line[2:]}", found[-1][1])
            else:
                found[-1][1].append(line)
        return found


class Page:
    def __init__(self, name):
        self.path = pathlib.Path(ROOT, name)
        self.text = self.path.read_text()
        self.blocks = [Block(match) for match in re.finditer(
            r"(?P<before>[^\n]*)\n+^```(?P<language>\w*)\n(?P<text>.*?)^```$", self.text, re.MULTILINE | re.DOTALL)]
        self.changes = []

    def first(self, language, heading=""):
        """The first block in a language, below a heading."""
        begin = self.text.index(heading)
        return next(block for block in self.blocks if block.language == language and block.begin > begin)

    def replace(self, block, text):
        self.changes.append((block, text))

    def save(self):
        for block, text in sorted(self.changes, key=lambda change: -change[0].begin):
            self.text = self.text[:block.begin] + text + self.text[block.end:]
        self.path.write_text(self.text)


def fits(shown, printed):
    """Whether lines that a page shows are what was printed."""
    if REST in shown:
        at = shown.index(REST)
        rest = len(shown) - at - 1
        return len(printed) >= at + rest and fits(shown[:at], printed[:at]) and fits(shown[at + 1:], printed[len(printed) - rest:])
    return len(shown) == len(printed) and all(
        comparable(there).startswith(comparable(here.removesuffix(REST))) if here.endswith(REST) else comparable(here) == comparable(there)
        for here, there in zip(shown, printed))


def lines_to_show(shown, printed):
    """What a page is to show now, in the form in which it was shown."""
    if fits(shown, printed):
        return shown
    host, user = re.escape(socket.gethostname()), re.escape(getpass.getuser())
    printed = [re.sub(rf"\b(on |leader +){host}\b", r"\1db1", re.sub(rf"\bby {user} on\b", "by ada on", line)) for line in printed]
    if REST in shown:
        at = shown.index(REST)
        rest = len(shown) - at - 1
        return [*printed[:at], REST, *printed[len(printed) - rest:]]
    return [line if len(line) <= LONGEST else line[:LONGEST - 1] + REST for line in printed]


def screen(output):
    """What remains on a terminal: without colours, and without what was overwritten."""
    output = re.sub(r"\x1b\[[0-9;?]*[A-JL-Za-z]", "", output.replace("\r\n", "\n"))
    lines = [line.split("\r")[-1].replace("\x1b[K", "").rstrip().expandtabs() for line in output.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


class Terminal:
    """A command in a terminal without a keyboard."""

    def __init__(self, command, folder, environment):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        self.process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=slave,
                                        stderr=slave, start_new_session=True)
        os.close(slave)
        self.output = b""
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        try:
            while read := os.read(self.master, 65536):
                self.output += read
        except OSError:
            pass  # the last process has closed it
        os.close(self.master)

    def wait(self):
        """Everything that it has printed, when it is over."""
        try:
            self.process.wait(PATIENCE)
        finally:
            self.end(signal.SIGKILL)
        return self.printed()

    def printed(self):
        return self.output.decode(errors="replace")

    def end(self, with_signal=signal.SIGTERM):
        if self.process.poll() is None:
            os.killpg(self.process.pid, with_signal)
            self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)


class Session:
    """A bare folder with `lockstep` in the path. The names of the pages are those of things that the test alone has: the database shop,
    the alias orders, and the servers localhost:9200 and localhost:9464."""

    def __init__(self):
        postgresql = server("LOCKSTEP_TEST_POSTGRESQL", "scripts/postgresql start")
        self.engine = server("LOCKSTEP_TEST_ELASTICSEARCH", "scripts/engine start elasticsearch-7.10")
        self.postgresql = postgresql
        self.database = f"shop_{uuid.uuid4().hex[:12]}"
        self.alias = "o" + "".join(random.choices(string.ascii_lowercase, k=5))
        self.port = free_port()
        self.http = f"127.0.0.1:{self.port}"
        self.folder = tempfile.TemporaryDirectory()
        os.mkdir(os.path.join(self.folder.name, ".bin"))
        os.symlink(PROGRAM, os.path.join(self.folder.name, ".bin", "lockstep"))
        os.symlink(os.path.join(ROOT, "schema"), os.path.join(self.folder.name, "schema"))
        url = urllib.parse.urlsplit(postgresql)
        own = {"PGHOST": url.hostname, "PGPORT": url.port, "PGUSER": url.username, "PGPASSWORD": url.password}
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("LOCKSTEP_", "PG"))},
            **{name: str(value) for name, value in own.items() if value}, "PAGER": "cat", "PSQLRC": "/dev/null", "LC_ALL": "C.UTF-8",
            "TERM": "xterm", "PATH": f"{self.folder.name}/.bin:{os.environ['PATH']}"}
        self.services = []

    def close(self):
        for service in self.services:
            service.end()
        psql(self.postgresql, f"drop database if exists {self.database} with (force)")
        for number in (1, 2):
            try:
                urllib.request.urlopen(urllib.request.Request(f"{self.engine}/{self.alias}-{number:06}", method="DELETE"))
            except urllib.error.HTTPError:
                pass  # it was removed
        self.folder.cleanup()

    def ours(self, text):
        text = text.replace("lockstep init", f"lockstep init --alias {self.alias} --elasticsearch {self.engine}")
        text = text.replace("localhost:9200", urllib.parse.urlsplit(self.engine).netloc)
        text = re.sub(r"(localhost|127\.0\.0\.1):9464", self.http, text)
        text = re.sub(r"((?:psql|createdb|dropdb) |postgresql:///)shop\b", rf"\1{self.database}", text)
        return re.sub(r"(?<![\w.])orders\b", self.alias, text)

    def theirs(self, text):
        for ours, theirs in ((self.engine, "http://localhost:9200"), (self.http, "127.0.0.1:9464"), (f"port {self.port}", "port 9464"),
                             (self.database, "shop"), (self.alias, "orders")):
            text = text.replace(ours, theirs)
        return text

    def write(self, name, text):
        pathlib.Path(self.folder.name, self.ours(name)).write_text(self.ours(text))

    def terminal(self, command):
        return Terminal(self.ours(command), self.folder.name, self.environment)

    def run(self, command):
        """The lines that a command leaves on the terminal."""
        exported = re.fullmatch(r"export (\w+)=(\S+)", command)
        if exported:
            self.environment[exported[1]] = self.ours(exported[2])
            return []
        if command == INTERRUPT:
            return self.interrupt()
        if re.match(r"lockstep (run|up)\b(?!.*--until-caught-up)", command):
            return self.serve(command)
        return screen(self.theirs(self.terminal(command).wait()))

    def serve(self, command):
        """Begins a service; what it has printed when it has caught up."""
        service = self.terminal(command)
        self.services.append(service)
        config = re.search(r" -c \S+", command)
        config = config[0] if config else ""
        question = f"lockstep wait --refresh --timeout 5s{config} && lockstep status{config}"
        if not wait_until(lambda: service.process.poll() is not None or ": following" in self.terminal(question).wait(), PATIENCE):
            raise AssertionError(f"{command} does not catch up: {service.printed()}")
        wait_until(lambda: "is done" in service.printed(), 10)
        time.sleep(0.2)  # the lines that belong to it
        return screen(self.theirs(service.printed()))

    def interrupt(self):
        """What the service prints until its end."""
        service = self.services.pop()
        before = len(screen(service.printed()))
        service.end(signal.SIGINT)
        return screen(self.theirs(service.printed()))[before:]

    def play(self, page, block):
        """Runs a block, and describes how what it printed differs from the page."""
        if block.language != "console":
            if block.file:
                self.write(block.file, block.text)
            return []
        differences, text = [], ""
        for command, shown in block.steps():
            printed = self.run(command)
            if not fits(shown, printed):
                differences.append("\n".join([f"{page.path.name}: $ {command}", *(f"- {line}" for line in shown), *(f"+ {line}" for line in printed)]))
            typed = command if command == INTERRUPT else "$ " + command.replace("\n", "\n> ")
            text += "\n".join([typed, *lines_to_show(shown, printed)]) + "\n"
        if differences and WRITES:
            page.replace(block, text)
            return []
        return differences
