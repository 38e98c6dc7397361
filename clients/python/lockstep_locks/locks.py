"""Taking, renewing and giving back locks. Numbers and rules are those of docs/lock-protocol.md, whose steps have the same names."""
import json
import os
import random
import secrets
import socket
import threading
import time

from . import handed_down
from .errors import LeaseLost, LockBusy, LockstepError
from .names import document_id, is_shortened, lock_set
from .server import Server, may_work_later, quoted, reason_of
from .stored import MOST_EXCEEDED, OPEN_STATES, fence_of, holders_of, state_of

_CLOCK_STEP = 0.25  # the server's clock moves in steps; a lease may end that much earlier
_PLACE = 0.4  # seconds for which a waiting client has its place in a queue without asking again
_ITEMS_OF_A_BULK = 500
_LONGEST_LEAP = 1_000_000  # so that two who exceed the same fence draw different tokens, even from different journals
_SCRIPTS = ["acquire-v3", "release-v3", "renew-v1", "journal-open-v1", "journal-step-v1", "journal-seize-v1", "journal-token-v2"]


def _script(name, parameters):
    return {"id": f"lockstep-{name}", "params": parameters}


def _new_id():
    host = "".join(c if c.isalnum() and c.isascii() else "_" for c in socket.gethostname()) or "host"
    return f"{host}-{os.getpid()}-{secrets.token_hex(8)}"


class Locks:
    """The locks of one cluster. `lease` in seconds: so long after its last sign of life a holder counts as dead."""

    def __init__(self, url="http://127.0.0.1:9200", index="lockstep-locks", lease=10.0, **credentials):
        ends = index.endswith("-locks") and index != "-locks"
        self._index = index
        self._journal = (index[: -len("-locks")] if ends else index) + "-journal"
        self._lease = lease
        self._url, self._credentials = url, credentials
        self._prepared = False

    def hold(self, document=(), tree=(), shared=(), exclusive=(), everything=False, wait=0.0):
        """A context manager that holds these locks. Raises LockBusy, LockstepError."""
        return Lock(self, lock_set(document, tree, shared, exclusive, everything), wait)

    def _connect(self):
        # A renewal that hangs must end before the lease does.
        return Server(self._url, max(self._lease / 3, 1.0), **self._credentials)

    def _require_scripts(self):
        if self._prepared:
            return
        server = self._connect()
        _, reply = server.request("looking for lockstep's scripts", "GET",
                                  "/_cluster/state/metadata?filter_path=metadata.stored_scripts.lockstep-*.lang")
        server.close()
        stored = reply.get("metadata", {}).get("stored_scripts", {})
        missing = [name for name in _SCRIPTS if f"lockstep-{name}" not in stored]
        if missing:
            raise LockstepError(f"the cluster lacks lockstep's script {missing[0]}; run `lockstep locks prepare` once, with a "
                                "configuration that names this cluster")
        self._prepared = True


class Lock:
    """Locks that are held together, from `with` to its end: once. For one thread."""

    def __init__(self, locks, wanted, wait):
        self._locks = locks
        self._wanted = wanted
        self._wait = float("inf") if wait is None else wait
        self._server = locks._connect()
        self._lease = int(locks._lease * 1000)
        self._entry = None  # (_seq_no, _primary_term) of our journal entry
        self._lost = None
        self._journal_turn = threading.RLock()
        self._ended = threading.Event()
        self.id = _new_id()
        self.token = None
        self._under = []

    # --- the context manager

    def __enter__(self):
        if self._ended.is_set() or self._entry is not None:
            raise RuntimeError("a lock is taken once; call hold() for another one")
        end = time.monotonic() + self._wait
        try:
            self._insist(self._locks._require_scripts, self._wait)
            self._wait_for_locks(end)
            self._insist(self._commit)
        except BaseException as error:
            self._ended.set()
            if self._entry is not None:
                self._clear_up() if isinstance(error, LeaseLost) else self._give_up("aborted")
            self._server.close()
            raise
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()
        return self

    def __exit__(self, kind, error, trace):
        self._ended.set()
        self._keeper.join()
        try:
            if self._lost is None:
                self._give_up("done")
            elif kind is None:
                raise self._lost
        finally:
            self._server.close()

    # --- for the holder

    @property
    def environment(self):
        """What a child process needs in its environment to work under these locks, with lockstep or with this package."""
        return handed_down.environment(self.id, self.token)

    def check(self):
        """Raises LeaseLost when the locks are lost."""
        if self._lost is None and time.monotonic() >= self._good_until:
            self._lost = LeaseLost("the lease could not be renewed in time")
        if self._lost is not None:
            raise self._lost

    def update(self, index, id, change, routing=None):
        """Writes change(document) under the fencing token, and deletes it where that is None. Returns what it wrote."""
        path = f"/{quoted(index)}/_doc/{quoted(id)}"
        query = f"routing={quoted(routing)}" if routing else ""
        refused = None  # (what we meant to write, the fence before it): another holder was faster, or our own request arrived twice
        while True:
            self.check()
            status, found = self._server.request(f"reading {index}/{id}", "GET", f"{path}?{query}", accepted=(404,))
            if "error" in found:
                found = {}
            document = found.get("_source")
            if refused is not None and self._is_written(document, *refused):
                return document
            before = self._exceed(index, id, document)
            changed = change(None if document is None else dict(document))
            self.check()
            if document is None:
                if changed is None:
                    return None
                target = f"/{quoted(index)}/_create/{quoted(id)}?{query}"
            else:
                target = f"{path}?if_seq_no={found['_seq_no']}&if_primary_term={found['_primary_term']}&{query}"
            if changed is None:
                status, _ = self._server.request(f"deleting {index}/{id}", "DELETE", target, accepted=(404, 409))
            else:
                changed = {**changed, "fence": self.token}
                status, _ = self._server.request(f"writing {index}/{id}", "PUT", target, changed, accepted=(409,))
            if status != 409:
                return changed
            refused = json.loads(json.dumps(changed)), before

    # --- the protocol

    def _is_written(self, document, wanted, before):
        """Whether our own request was refused because it had arrived already: no other holder writes with our token."""
        return document == wanted or document is not None and before != self.token and document.get("fence") == self.token

    def _open(self):
        modes = {mode: [name for name, m in self._wanted.items() if m == mode] for mode in ("shared", "exclusive")}
        entry = {"kind": "lock", "owner": self.id, "target": "python", "locks": modes, "progress": 0}
        self._write_entry("opening the operation", {
            "scripted_upsert": True, "upsert": {},
            "script": _script("journal-open-v1", {"lease": self._lease, "entry": entry})})

    def _commit(self):
        sent = time.monotonic()
        token = self._draw(0)
        self._step({"state": "running", "token": token})
        self.token = token
        self._good_until = sent + self._lease / 1000 - _CLOCK_STEP

    def _insist(self, step, limit=None):
        """Keeps trying while the server is away or too busy: for `limit` seconds, or for a lease, as the locks are not taken sooner."""
        limit = self._lease / 1000 if limit is None else limit
        end = time.monotonic() + limit
        while True:
            try:
                return step()
            except LockstepError as error:
                left = end - time.monotonic()
                if not error.retryable:
                    raise
                if left <= 0:
                    raise self._exhausted(error, limit) from error
                time.sleep(min(left, self._lease / 20000))

    def _exhausted(self, error, limit):
        return LockstepError(f"{error} (tried again for {limit:g} s)", True) if limit > 0 else error

    def _wait_for_locks(self, end):
        while True:
            left = max(0.0, end - time.monotonic())
            self._insist(self._open, max(left, self._lease / 1000))
            self._under = self._insist(lambda: handed_down.operations(self._find_entry, self._read_clock), left)
            try:
                return self._acquire(end)
            except LeaseLost:
                # The server was away for longer than a lease, and another process has cleared up.
                if time.monotonic() >= end:
                    raise
                self._clear_up()
                self.id, self._entry = _new_id(), None

    def _clear_up(self):
        """What cannot be given back ends with its lease."""
        try:
            self._release()
        except LockstepError:
            pass

    def _acquire(self, end=0.0):
        renewed = time.monotonic()
        pause, refusals, cleared = 0.02, 0, 0
        place, at, ahead, moved = 0, None, None, renewed
        while True:
            refused = None
            began = time.monotonic()
            try:
                if began - renewed >= self._lease / 3000:
                    self._step({})
                    renewed = began
                refused = self._try_acquire(int(place * 1000), at)
                if refused is None:
                    return
                refusals += 1
                if self._resolve_dead(*refused, place) and cleared < 8:
                    cleared += 1
                    continue
                by_sharers = refused[1].get("lock_type") == "shared" and refused[1].get("answer") != "queued"
                if self._wait > 0 and place == 0 and (refusals >= 2 or not by_sharers):
                    place, at = _PLACE, refused[0]
                    continue
            except LockstepError as error:
                if not error.retryable:
                    raise
                if time.monotonic() >= end:
                    raise self._exhausted(error, self._wait) from error
            cleared = 0
            if time.monotonic() >= end:
                raise self._busy(refused)
            now = time.monotonic()
            before = refused and self._ahead(refused[1])
            if before is None:
                rest = random.uniform(pause / 2, pause)
                pause = min(pause * 2, 0.5)
            else:  # often when we are the next, seldom when we are far behind or nothing moves
                if (at, ahead) != (refused[0], before):
                    at, ahead, moved = refused[0], before, now
                rest = min(max((now - moved) / 8, 0.002 * min(ahead + 1, 100)), 0.5)
                place = max(_PLACE, 3 * (rest + now - began))
            time.sleep(min(rest, max(0.0, end - now)))

    def _ahead(self, source):
        """How many wait before us; none when we have no place in the queue."""
        waiting = [each["holder"] for each in source.get("queue", [])]
        return waiting.index(self.id) if self.id in waiting else None

    def _try_acquire(self, place, at):
        """The first refusal, (name, document); none when all are held. Asks first for the lock `at`, which has refused before."""
        def parameters(name, mode):
            return {"scripted_upsert": True, "upsert": {}, "_source": ["*"], "script": _script("acquire-v3", {
                "holder": self.id, "under": self._under, "mode": mode, "lease": self._lease, "place": place,
                "name": name if is_shortened(name) else None})}

        def refusals(some):
            for name, item in self._bulk("taking locks", some, lambda name: parameters(name, self._wanted[name])):
                source = item.get("get", {}).get("_source", {})
                mine = self.id in source.get("holders", {}) and item["result"] in ("created", "updated")
                strong = self._wanted[name] == "shared" or source.get("lock_type") == "exclusive"
                if not (mine and strong):
                    yield name, source

        names = list(self._wanted)
        if at is not None and len(names) > 1:
            refused = list(refusals([at]))
            if refused:
                return refused[0]
        for begin in range(0, len(names), _ITEMS_OF_A_BULK):
            refused = list(refusals(names[begin : begin + _ITEMS_OF_A_BULK]))
            if refused:
                if len(names) > 1:
                    self._give_back(refused[0][0], place)
                return refused[0]
        return None

    def _give_back(self, at, place):
        """Gives the locks back, but not the place in the queue of `at`, nor those at exclusive locks before it."""
        def body(name):
            first = name.encode() < at.encode() and self._wanted[name] == "exclusive"
            return {"script": _script("release-v3", {
                "holder": self.id, "keep_place": name == at, "only_expired": False, "place": place if first else 0})}

        for _ in self._bulk("giving locks back", list(reversed(self._wanted)), body):
            pass

    def _resolve_dead(self, name, source, place):
        # Where the refusal gave us our place, that began at the server's time.
        now = source["now"] if "now" in source else source["queue"][self._ahead(source)]["until"] - int(place * 1000)
        return any([self._resolve(holder, name) for holder, until in holders_of(name, source).items()
                    if until < now and holder != self.id])

    def _resolve(self, holder, met):
        """Whether the holder was dead and its locks are free."""
        found = self._find(holder)
        if not found.get("found"):
            self._release_of(holder, [met], only_expired=True)
            return True
        entry = found["_source"]
        if state_of(holder, entry) in OPEN_STATES:
            status, reply = self._server.request(
                f"resolving the operation {holder}", "POST", self._entry_path(holder, (found["_seq_no"], found["_primary_term"])),
                {"_source": ["*"], "script": _script("journal-seize-v1", {
                    "by": self.id, "lease": self._lease, "adopt": False, "seen": found["_seq_no"]})}, accepted=(404, 409))
            if status != 200:
                return True  # another holder was faster
            entry = reply["get"]["_source"]
            if entry.get("answer") == "dead":
                raise LockstepError(f"{met} is locked by {holder}, which died in the middle of a change of the tree; "
                                    "`lockstep tree recover` finishes it")
            if entry.get("answer") is not None:
                return False
        names = [*entry["locks"].get("shared", []), *entry["locks"].get("exclusive", [])]
        self._release_of(holder, [*names, met])
        return True

    def _draw(self, above):
        _, reply = self._server.request(
            "drawing a fencing token", "POST",
            f"/{quoted(self._locks._journal)}/_update/lockstep-token?retry_on_conflict=100",
            {"scripted_upsert": True, "upsert": {}, "_source": ["last"], "script": _script("journal-token-v2", {"above": above})})
        return reply["get"]["_source"]["last"]

    def _exceed(self, index, id, document):
        """A greater fence means that we were deposed, as the journal then shows; or it was not written under these locks.
        Returns the fence."""
        fence = fence_of(f"the document {index}/{id}", document or {})
        if fence > self.token:
            if fence > MOST_EXCEEDED:
                raise LockstepError(f"the fence {fence} of the document {index}/{id} leaves no room for greater tokens; correct it")
            token = self._draw(fence + random.randrange(_LONGEST_LEAP))
            self._step({"token": token})
            self.token = token
        return fence

    def _keep(self):
        pause = self._lease / 3000
        while not self._ended.wait(pause):
            sent = time.monotonic()
            pause = self._lease / 3000
            try:
                self._require_indices()
                self._step({})
                self._renew_locks()
                self._good_until = sent + self._lease / 1000 - _CLOCK_STEP
            except LeaseLost as lost:
                self._lost = lost
                return
            except LockstepError as error:
                pause = self._lease / 20000
                if not error.retryable or time.monotonic() >= self._good_until:
                    self._lost = LeaseLost(str(error))
                    return

    def _require_indices(self):
        """A renewal must not make a deleted index again, perhaps without its mapping."""
        for index in (self._locks._index, self._locks._journal):
            _, reply = self._server.request(f"looking for the index {index}", "GET", f"/{quoted(index)}/_mapping", accepted=(404,))
            found = [of_index.get("mappings", {}) for of_index in reply.values() if isinstance(of_index, dict)]
            if not any("locks" in mappings.get("_meta", {}).get("lockstep", {}) for mappings in found):
                raise LeaseLost(f"the index {index} is gone, or has lost its mapping: it was deleted; `lockstep locks prepare` "
                                "makes it again")

    def _renew_locks(self):
        parameters = {"script": _script("renew-v1", {"holder": self.id, "lease": self._lease})}
        for name, item in self._bulk("renewing locks", list(self._wanted)[:64], lambda name: parameters):
            if item.get("result") != "updated":
                story = f"the lock {name} is gone: it was deleted, or the index of locks was"
                self._give_up("aborted", story)
                raise LeaseLost(story)

    def _step(self, fields):
        """Changes our entry, as it was when we last wrote it, and starts its lease again."""
        with self._journal_turn:
            for _ in range(4):
                status, _ = self._write_entry("writing the operation", {
                    "script": _script("journal-step-v1", {"lease": self._lease, "set": fields})}, self._entry)
                if status == 200:
                    return
                now = self._find(self.id)
                entry = now.get("_source")
                if entry is None:
                    raise LeaseLost(f"the operation {self.id} is no longer in the journal")
                ours = entry["owner"] == self.id and entry["state"] == fields.get("state")
                if not ours and (entry["owner"] != self.id or entry["state"] in ("done", "aborted")):
                    raise LeaseLost(f"the operation {self.id} is {entry['state']}: {entry.get('reason', '')}")
                self._entry = now["_seq_no"], now["_primary_term"]  # the answer to our own request was lost
                if ours:
                    return
            raise LeaseLost(f"the operation {self.id} is changed by another process")

    def _write_entry(self, doing, body, version=None):
        status, reply = self._server.request(f"{doing} {self.id}", "POST", self._entry_path(self.id, version), body,
                                             accepted=(404, 409) if version else ())
        if status in (200, 201):
            self._entry = reply["_seq_no"], reply["_primary_term"]
        return status, reply

    def _find(self, id):
        return self._server.request(f"reading the operation {id}", "GET", f"/{quoted(self._locks._journal)}/_doc/{quoted(id)}",
                                    accepted=(404,))[1]

    def _find_entry(self, id):
        return self._find(id).get("_source")

    def _read_clock(self):
        _, reply = self._server.request("reading the server's clock", "GET", "/_nodes/_master/stats/os?filter_path=nodes.*.timestamp")
        for node in reply.get("nodes", {}).values():
            return node["timestamp"]
        raise LockstepError("reading the server's clock: the cluster has no elected master", True)

    def _entry_path(self, id, version):
        # An opening collides with itself when it is sent again; the script leaves an open entry as it is.
        condition = f"?if_seq_no={version[0]}&if_primary_term={version[1]}" if version else "?retry_on_conflict=10"
        return f"/{quoted(self._locks._journal)}/_update/{quoted(id)}{condition}"

    def _give_up(self, state, reason=""):
        """Ends our operation and gives everything back. What cannot be given back ends with its lease."""
        def end():
            self._step({"state": state, "reason": reason})

        def clear_up():
            self._release()
            self._server.request(f"removing the operation {self.id}", "DELETE",
                                 f"/{quoted(self._locks._journal)}/_doc/{quoted(self.id)}"
                                 f"?if_seq_no={self._entry[0]}&if_primary_term={self._entry[1]}", accepted=(404, 409))

        if state == "done":
            self._insist(end)
        try:
            if state == "done":
                self._insist(clear_up)
            else:
                end()
                clear_up()
        except LockstepError:
            pass

    def _release(self):
        self._release_of(self.id, list(self._wanted))

    def _release_of(self, holder, names, only_expired=False):
        parameters = {"script": _script("release-v3", {
            "holder": holder, "keep_place": False, "only_expired": only_expired, "place": 0})}
        names = sorted(set(names), key=str.encode, reverse=True)
        for begin in range(0, len(names), _ITEMS_OF_A_BULK):
            for _ in self._bulk("releasing locks", names[begin : begin + _ITEMS_OF_A_BULK], lambda name: parameters):
                pass

    def _bulk(self, doing, names, body):
        """Yields (name, outcome) of an update for each name; sends those again that collide with other writers."""
        for _ in range(8):
            lines = b"".join(json.dumps(line).encode() + b"\n" for name in names for line in (
                {"update": {"_id": document_id(name), "retry_on_conflict": 10}}, body(name)))
            _, reply = self._server.request(doing, "POST", f"/{quoted(self._locks._index)}/_bulk", lines)
            again = []
            for name, each in zip(names, reply["items"]):
                item = each["update"]
                error = item.get("error", {})
                if item["status"] == 409:
                    again.append(name)
                elif item["status"] == 404 and error.get("type") != "index_not_found_exception" or 200 <= item["status"] <= 299:
                    yield name, item
                else:
                    raise LockstepError(f"{doing}: HTTP {item['status']} {reason_of(error)}", may_work_later(item["status"], error))
            if not again:
                return
            names = again
        raise LockstepError(f"{doing}: {names[0]} is changed by too many at once", True)

    def _busy(self, refused):
        if refused is None:
            return LockstepError("taking locks: the server did not answer in time", True)
        name, source = refused
        holders = list(holders_of(name, source)) or [str(source.get("process_id", "somebody"))]
        how = "shared" if source.get("lock_type") == "shared" else "locked exclusively"
        return LockBusy(f"{name} is {how} by {', '.join(holders)}", name, holders)
