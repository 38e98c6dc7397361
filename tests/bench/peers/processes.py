"""Processes of this machine: what they use, and how they end."""
import os
import pathlib
import signal
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


def _stat(pid):
    """The fields of /proc/PID/stat behind the name; None when it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def tree(root):
    """`root` and all below it."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and (stat := _stat(entry.name)):
            children.setdefault(int(stat[1]), []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def cpu_seconds(root):
    """Of `root`, all below it, and those of them that have ended."""
    return sum(sum(int(ticks) for ticks in stat[11:15]) for pid in tree(root) if (stat := _stat(pid))) / TICKS


def peak_memory(root):
    """The most that each process of the tree has had resident, in MiB, added up."""
    kilobytes = 0
    for pid in tree(root):
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        kilobytes += sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
    return kilobytes / 1024


class Process:
    """A program in the background, in a process group of its own, its output in a file."""

    def __init__(self, command, log, **more):
        self.log = log
        with open(log, "ab") as output:
            self._child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                           start_new_session=True, **more)
        self.pid = self._child.pid

    def require_running(self):
        if self._child.poll() is not None:
            raise RuntimeError(f"it has ended with {self._child.returncode}:\n" + pathlib.Path(self.log).read_text()[-3000:])

    def stop(self, patience=20):
        """SIGTERM, and SIGKILL to what is left of its group after so many seconds."""
        if self._child.poll() is None:
            self._child.terminate()
        deadline = time.monotonic() + patience
        while self._child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._child.wait()
