"""A client process of the lock harness: random changes of documents under their locks, until it is killed.

`--as package` uses clients/python; at any request it may die by itself, or sleep for longer than its lease. `--as program` runs
`lockstep lock` around a child that ignores signals and leaves another process behind, and kills, stops or robs it. Each says on
standard output, a line each, to the process that started it: "opens", "done", "dies POINT", "sleeps POINT", "wrote DOCUMENT ENTRY"
for what the server has acknowledged, and "fault TEXT" for what must not be."""
import argparse
import ctypes
import os
import random
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "clients", "python"))
import lockstep_locks.locks  # noqa: E402
from lockstep_locks import LeaseLost, LockBusy, Locks, LockstepError  # noqa: E402
from lockstep_locks.server import Server  # noqa: E402

WAIT = 3.0  # seconds for a lock
POINTS_A_DEATH = 250
POINTS_A_SLEEP = 250
ENDLESS_CHILDREN = 4  # one in so many ends only when it is killed
PATIENCE = 60.0  # seconds in which a process is gone that somebody has to end
PR_SET_PDEATHSIG = 1

FENCED = """
  for (def each : ctx._source.log) { if (each[1] == params.entry) { ctx.op = 'noop'; return } }
  if (params.fenced && ctx._source.fence > params.token) { ctx.op = 'noop'; return }
  ctx._source.fence = params.token; ctx._source.log.add([params.token, params.entry])"""


def say(*words):
    """In one write: a process that is killed leaves no half of a line, and another's line never comes between."""
    os.write(sys.stdout.fileno(), (" ".join(map(str, words)) + "\n").encode())


class Fate:
    def __init__(self, seed, lease):
        self._random = random.Random(seed)
        self._longest = lease * 2.5

    def pass_by(self, point, points_a_sleep=POINTS_A_SLEEP):
        if self.one_in(POINTS_A_DEATH):
            say("dies", point)
            os.kill(os.getpid(), signal.SIGKILL)
        if self.one_in(points_a_sleep):
            say("sleeps", point)
            time.sleep(self.up_to(self._longest))

    def one_in(self, n):
        return self._random.randrange(n) == 0

    def up_to(self, seconds):
        return self._random.uniform(0, seconds)

    def some(self, things):
        return self._random.sample(things, self._random.choice([1, 1, 2]))


def fateful(fate):
    """A server at which fate strikes before each request, and after the server has acted on it."""
    class FatefulServer(Server):
        def _send(self, doing, method, path, data, headers):
            fate.pass_by(f"before {method} {path}")
            answer = super()._send(doing, method, path, data, headers)
            fate.pass_by(f"after {method} {path}")
            return answer

    return FatefulServer


class PackageClient:
    def __init__(self, world, fate):
        self._world, self._fate = world, fate
        lockstep_locks.locks.Server = fateful(fate)
        self._locks = Locks(world.url, world.index, world.lease)
        self._plain = Server(world.url, 10)

    def change(self, entry):
        ids = self._fate.some(self._world.document)
        with self._locks.hold(document=ids, wait=WAIT) as lock:
            for id in ids:
                if self._world.without == "fencing":
                    self._write_anyhow(lock, id, entry)
                else:
                    lock.update(self._world.data, id, lambda document: self._extended(document, lock.token, entry))
                say("wrote", id, entry)

    def _write_anyhow(self, lock, id, entry):
        path = f"/{self._world.data}/_doc/{id}"
        document = self._plain.request("reading", "GET", path)[1]["_source"]
        self._fate.pass_by("between reading and writing", points_a_sleep=2)
        self._plain.request("writing", "PUT", path, {**self._extended(document, lock.token, entry), "fence": lock.token})

    @staticmethod
    def _extended(document, token, entry):
        """Not idempotent: the package has to see that a write whose answer was lost has been done."""
        return {**document, "log": [*document["log"], [token, entry]]}


class ProgramClient:
    def __init__(self, world, fate):
        self._world, self._fate = world, fate
        self._server = Server(world.url, 10)

    def change(self, entry):
        ids = self._fate.some(self._world.document)
        endless = self._fate.one_in(ENDLESS_CHILDREN)
        child = [sys.executable, "-B", __file__, "--as", "endless" if endless else "child", *sys.argv[3:], "--entry", entry]
        process = subprocess.Popen([self._world.program, "lock", "-c", self._world.config, "--document", *ids, "--wait", f"{WAIT:.0f}s", "--",
                                    *child, *(word for id in ids for word in ("--change", id))],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        family = []
        listener = threading.Thread(target=self._listen, args=(process.stdout, family))
        listener.start()
        complaints = []
        reader = threading.Thread(target=lambda: complaints.append(process.stderr.read()))
        reader.start()
        killed = self._harm(process, family, ids, endless)
        code = process.wait()
        # Who has killed lockstep gives its other process the time that it has: the lease.
        end = time.monotonic() + (PATIENCE if killed else 0)
        while any(map(alive, family)) and time.monotonic() < end:
            time.sleep(0.05)
        for pid in filter(alive, family):
            say("fault", f"the process {pid} has outlived lockstep lock, which ended with {code}")
            os.kill(pid, signal.SIGKILL)
        listener.join()
        reader.join()
        if code not in (0, 1, 4, -signal.SIGKILL, 128 + signal.SIGKILL):
            say("fault", f"lockstep lock ended with {code}: {complaints[0].strip()}")
        if code != 0:
            raise LeaseLost(f"lockstep lock ended with {code}")

    @staticmethod
    def _listen(lines, family):
        for line in lines:
            what, _, rest = line.strip().partition(" ")
            if what == "process":
                family.append(int(rest))
            else:
                say(what, rest)

    def _harm(self, process, family, ids, endless):
        """Whether it has killed lockstep itself."""
        if not endless and not self._fate.one_in(3):
            return False
        began = time.monotonic()
        while process.poll() is None and not family and time.monotonic() < began + PATIENCE:
            time.sleep(0.02)
        time.sleep(self._fate.up_to(self._world.lease))
        how = self._fate.some(["kill", "stop", "rob"])[0]
        if process.poll() is not None:
            return False
        if how == "kill":
            process.kill()
            say("dies under its child")
            return True
        if how == "stop":
            process.send_signal(signal.SIGSTOP)
            say("sleeps under its child")
            time.sleep(self._world.lease + self._fate.up_to(self._world.lease))
            process.send_signal(signal.SIGCONT)
        if how == "rob" or endless:
            self._server.request("robbing", "DELETE", f"/{self._world.index}/_doc/{ids[0]}", accepted=(404,))
        return False


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def alive(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"document_client.py" in file.read()  # nothing of one that is dead and not yet waited for
    except OSError:
        return False


def run_child(world):
    """The command under `lockstep lock`. Nothing but SIGKILL ends it or the process that it leaves behind."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    say("process", os.getpid())
    if os.fork() == 0:
        os.setsid()
        say("process", os.getpid())
        write_on(world, "behind")
    if getattr(world, "as") == "endless":
        write_on(world, "endless")
    for id in world.change:
        write_fenced(world, id, world.entry)


def write_on(world, kind):
    number = 0
    while True:
        number += 1
        for id in world.change:
            try:
                write_fenced(world, id, f"{world.entry}-{kind}-{number}")
            except LockstepError:
                pass  # the server is away
        time.sleep(0.2)


def write_fenced(world, id, entry):
    server = Server(world.url, 10)
    parameters = {"token": int(os.environ["LOCKSTEP_FENCING_TOKEN"]), "entry": entry, "fenced": world.without != "fencing"}
    _, reply = server.request("writing", "POST", f"/{world.data}/_update/{id}?retry_on_conflict=50",
                              {"script": {"source": FENCED, "params": parameters}})
    server.close()
    if reply["result"] == "updated":
        say("wrote", id, entry)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--as", choices=["package", "program", "child", "endless"], required=True)
    parser.add_argument("--url", action="append", required=True)
    parser.add_argument("--index", help="of the locks")
    parser.add_argument("--data", help="the index of the documents")
    parser.add_argument("--document", action="append", help="a document that may be changed")
    parser.add_argument("--lease", type=float, help="in seconds")
    parser.add_argument("--program", help="lockstep")
    parser.add_argument("--config", help="its configuration")
    parser.add_argument("--without", default="nothing")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--entry", help="what a child writes")
    parser.add_argument("--change", action="append", help="a document that a child changes")
    return parser.parse_args()


def main():
    world = options()
    kind = getattr(world, "as")
    if kind in ("child", "endless"):
        return run_child(world)
    fate = Fate(world.seed, world.lease)
    client = {"package": PackageClient, "program": ProgramClient}[kind](world, fate)
    number = 0
    while True:
        number += 1
        say("opens")
        try:
            client.change(f"{os.getpid()}-{world.seed}-{number}")
            say("done")
        except (LeaseLost, LockBusy):
            pass
        except LockstepError as error:
            if not error.retryable:
                raise


if __name__ == "__main__":
    main()
