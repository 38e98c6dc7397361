"""`lockstep status --watch` at a terminal, and without one."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from shop import PROGRAM, Shop

PATIENCE = 30
LINE = re.compile(r"\d\d:\d\d:\d\d pipeline shop: following, nothing pending, \S+/s\n")


class Terminal:
    """A pseudo-terminal of 80 columns with `lockstep status --watch` in it."""

    def __init__(self, config):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen([PROGRAM, "status", "--watch", "-c", config], stdin=slave, stdout=slave, stderr=slave,
                                        env={**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm"}, start_new_session=True)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.output = ""

    def read(self):
        while select.select([self.master], [], [], 0.05)[0]:
            self.output += os.read(self.master, 65536).decode(errors="replace")

    def shows(self, text):
        deadline = time.monotonic() + PATIENCE
        while text not in self.output and time.monotonic() < deadline:
            self.read()
        return text in self.output

    def screen(self):
        """What was drawn last, without colours and movements."""
        last = self.output.split("\x1b[H")[-1]
        return re.sub(r"\x1b\[[0-9?]*[a-zA-Z]", "", last).replace("\r", "")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


class Watch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shop = Shop()
        cls.addClassCleanup(cls.shop.close)

    def terminal(self):
        terminal = Terminal(self.shop.config)
        self.addCleanup(terminal.close)
        return terminal

    def test_a_terminal_has_a_screen_with_bars_which_goes_away_with_q(self):
        terminal = self.terminal()
        self.assertTrue(terminal.shows("pipeline shop: following"), terminal.output)
        self.assertTrue(terminal.shows("\x1b[H" ), terminal.output)
        self.assertTrue(terminal.shows("▁"), terminal.output)
        terminal.read()
        self.assertLessEqual(max(map(len, terminal.screen().splitlines())), 80, terminal.screen())
        self.assertIn(self.shop.name, terminal.output)
        self.assertNotIn("\x1b[2J", terminal.output.split("\x1b[H", 1)[1], "it is not cleared again, or it would flicker")
        os.write(terminal.master, b"q")
        self.assertTrue(terminal.shows("\x1b[?1049l"), "the screen from before is back")
        self.assertEqual(terminal.process.wait(PATIENCE), 0)
        self.assertEqual(termios.tcgetattr(terminal.slave)[3], terminal.before[3], "keys are echoed again")

    def test_an_interrupted_watch_ends_with_0_and_leaves_the_terminal_as_it_was(self):
        terminal = self.terminal()
        self.assertTrue(terminal.shows("pipeline shop: following"), terminal.output)
        terminal.process.send_signal(signal.SIGINT)
        self.assertEqual(terminal.process.wait(PATIENCE), 0)
        self.assertTrue(terminal.shows("\x1b[?1049l"))
        self.assertEqual(termios.tcgetattr(terminal.slave)[3], terminal.before[3])

    def test_without_a_terminal_it_prints_a_line_a_second(self):
        with subprocess.Popen([PROGRAM, "status", "--watch", "-c", self.shop.config], stdout=subprocess.PIPE, text=True) as watch:
            for _ in range(2):
                self.assertRegex(watch.stdout.readline(), LINE)
            watch.send_signal(signal.SIGINT)
            self.assertEqual(watch.wait(PATIENCE), 0)

    def test_a_pipeline_that_cannot_be_asked_is_an_error_at_once(self):
        config = os.path.join(self.shop.folder.name, "wrong.toml")
        with open(self.shop.config) as file, open(config, "w") as wrong:
            wrong.write(file.read().replace(f"/{self.shop.name}\"", "/no_such_database\"", 1))
        done = subprocess.run([PROGRAM, "status", "--watch", "-c", config], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("no_such_database", done.stderr)

    # It repeated one line every second, for ever.
    def test_a_pipeline_that_was_never_applied_is_an_error_at_once(self):
        config = os.path.join(self.shop.folder.name, "never_applied.toml")
        with open(self.shop.config) as file, open(config, "w") as other:
            other.write(re.sub(r'^pipeline = .*', 'pipeline = "never_applied"', file.read(), count=1, flags=re.MULTILINE))
        done = subprocess.run([PROGRAM, "status", "--watch", "-c", config], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("has not been applied; run `lockstep apply`", done.stderr)


if __name__ == "__main__":
    unittest.main()
