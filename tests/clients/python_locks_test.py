"""The Python package clients/python against a real engine and beside the program: the same locks, the same attacks."""
import json
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.parse

from lock_world import PATIENCE, PROGRAM, ROOT, LockWorld
from lockstep_locks import LeaseLost, LockBusy, Locks, LockstepError
from lockstep_locks.names import document_id, lock_set

LEASE = 4.0  # of Python's locks, so that the dead are soon known as dead


def hold_until_killed(engine, index, sent, name):
    with Locks(engine, index, LEASE).hold(exclusive=[name], wait=PATIENCE) as lock:
        sent.send(lock.token)
        signal.pause()


class NamesTest(unittest.TestCase):
    def test_a_path_shares_what_is_above_it_in_the_order_of_all_clients(self):
        self.assertEqual(list(lock_set(tree=["/b/c", "/a"]).items()),
                         [("/", "shared"), ("/a", "exclusive"), ("/b", "shared"), ("/b/c", "exclusive")])
        for wrong in ["a", "/a//b", "/a/../b", "/a\nb", ""]:
            with self.assertRaises(ValueError, msg=wrong):
                lock_set(tree=[wrong])

    def test_a_long_name_has_an_id_of_512_bytes(self):
        self.assertEqual(document_id("x" * 512), "x" * 512)
        self.assertEqual(len(document_id("ä" * 300).encode()), 511)
        self.assertEqual(document_id("x" * 600), "x" * 495 + "#f7f2e4ea97561685")

    def test_the_page_for_other_languages_gives_the_same_id(self):
        with open(os.path.join(ROOT, "docs", "lock-protocol.md"), encoding="utf-8") as page:
            code = next(block for block in re.findall("```python\n(.*?)```", page.read(), re.DOTALL) if "def document_id" in block)
        of_the_page = {}
        exec(code, of_the_page)
        for name in ["x", "x" * 512, "x" * 513, "ä" * 256, "ä" * 257, "x" + "ä" * 300, "€" * 700, "𝄞" * 600]:
            self.assertEqual(of_the_page["document_id"](name), document_id(name))
            self.assertLessEqual(len(document_id(name).encode()), 512)


class LocksTest(LockWorld):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.locks = Locks(cls.engine, cls.index, LEASE)

    def holder(self, name):
        received, sent = multiprocessing.Pipe(False)
        process = multiprocessing.get_context("fork").Process(target=hold_until_killed, args=(self.engine, self.index, sent, name))
        process.start()
        self.addCleanup(process.kill)
        self.assertTrue(received.poll(PATIENCE))
        return process, received.recv()

    def test_a_change_under_the_lock_loses_nothing_beside_others(self):
        self.put({"count": 0})

        def add():
            for _ in range(5):
                with Locks(self.engine, self.index, 20.0).hold(document=["1"], wait=PATIENCE) as lock:
                    count = self.document()["count"]
                    self.server.request("writing", "POST", f"/{self.name}-data/_update/1", {"doc": {"count": count + 1}})
                    lock.check()

        threads = [threading.Thread(target=add) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.document()["count"], 15)
        self.assertEqual(self.locks_list(), "")

    def test_the_program_and_python_respect_each_other(self):
        long = "/" + "ü" * 400
        with self.locks.hold(tree=["/a/b", long]) as lock:
            refused = self.lockstep("lock", "--tree", "/a", "--", "true")
            self.assertEqual(refused.returncode, 4, refused.stderr)
            self.assertEqual(self.lockstep("lock", "--exclusive", long, "--", "true").returncode, 4)
            self.assertEqual(self.lockstep("lock", "--tree", "/a/c", "--", "true").returncode, 0)
            self.assertIn(f"lock python  running, token {lock.token}", self.locks_list())
        token = self.lockstep("lock", "--tree", "/a/b", "--", "printenv", "LOCKSTEP_FENCING_TOKEN")
        self.assertGreater(int(token.stdout), lock.token)
        holder = subprocess.Popen([PROGRAM, "lock", "-c", self.config.name, "--exclusive", "p", "--", "sh", "-c", "echo in; sleep 300"],
                                  stdout=subprocess.PIPE)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.terminate)
        holder.stdout.readline()
        with self.assertRaises(LockBusy) as busy:
            self.locks.hold(shared=["p"]).__enter__()
        self.assertIn(f"-{holder.pid}-", busy.exception.holders[0])

    def test_the_dead_are_cleared_away_by_python_and_by_the_program(self):
        process, token = self.holder("dead")
        process.kill()
        with self.locks.hold(exclusive=["dead"], wait=PATIENCE) as lock:
            self.assertGreater(lock.token, token)
        process, token = self.holder("dead")
        process.kill()
        self.assertEqual(self.lockstep("lock", "--exclusive", "dead", "--wait", "60s", "--", "true").returncode, 0)
        self.assertEqual(self.locks_list(), "")

    def test_who_sleeps_for_longer_than_its_lease_writes_nothing_afterwards(self):
        self.put({"by": "nobody"}, "zombie")
        zombie = self.locks.hold(exclusive=["zombie"])
        zombie.__enter__()
        zombie._ended.set()  # it renews no more, as if it were stopped
        zombie._keeper.join()
        with self.locks.hold(exclusive=["zombie"], wait=PATIENCE) as heir:
            heir.update(f"{self.name}-data", "zombie", lambda document: {**document, "by": "heir"})
            zombie._good_until = time.monotonic() + PATIENCE  # and its clock stood still
            with self.assertRaises(LeaseLost):
                zombie.update(f"{self.name}-data", "zombie", lambda document: {**document, "by": "zombie"})
        self.assertEqual(self.document("zombie")["by"], "heir")
        self.assertEqual(self.document("zombie")["fence"], heir.token)

    def test_a_fence_that_no_lock_has_given_is_exceeded_and_one_that_is_none_is_refused(self):
        ahead = 2**42
        self.put({"fence": str(ahead)}, "fenced")
        with self.locks.hold(everything=True) as lock:
            lock.update(f"{self.name}-data", "fenced", lambda document: document)
            self.assertGreater(self.document("fenced")["fence"], ahead)
            self.assertEqual(self.document("fenced")["fence"], lock.token)
        self.put({"fence": 2**60}, "fenced")
        with self.locks.hold(everything=True) as lock, self.assertRaises(LockstepError):
            lock.update(f"{self.name}-data", "fenced", lambda document: document)

    def entry(self, id):
        """Of the journal; none when it has none."""
        status, found = self.server.request("reading", "GET", f"/{self.name}-journal/_doc/{id}", accepted=(404,))
        return found["_source"] if status == 200 else None

    def test_nothing_is_left_of_an_operation_that_is_over_or_was_refused(self):
        with self.locks.hold(exclusive=["short"]) as lock:
            self.assertEqual(self.entry(lock.id)["state"], "running")
            refused = self.locks.hold(exclusive=["short"])
            with self.assertRaises(LockBusy):
                refused.__enter__()
        self.assertIsNone(self.entry(lock.id))
        self.assertIsNone(self.entry(refused.id))

    def test_a_server_that_is_away_is_waited_for_as_long_as_wait_says(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            away = f"http://127.0.0.1:{closed.getsockname()[1]}"
        begin = time.monotonic()
        with self.assertRaisesRegex(LockstepError, r"\(tried again for 0.5 s\)") as raised:
            Locks(away, self.index, LEASE).hold(exclusive=["away"], wait=0.5).__enter__()
        self.assertTrue(raised.exception.retryable)
        self.assertGreaterEqual(time.monotonic() - begin, 0.5)
        with self.assertRaisesRegex(LockstepError, "refused$"):
            Locks(away, self.index, LEASE).hold(exclusive=["away"]).__enter__()

    def test_a_server_that_starts_while_somebody_waits_is_used(self):
        lock = Locks(self.engine, self.index, LEASE).hold(exclusive=["starting"], wait=PATIENCE)
        connect, refused = lock._locks._connect, []

        def starting():
            server = connect()
            if len(refused) < 2:
                refused.append(server)
                server._urls = [urllib.parse.urlsplit("http://127.0.0.1:1")]
            return server

        lock._locks._connect = starting
        with lock:
            lock.check()
        self.assertEqual(len(refused), 2)

    def test_who_has_waited_for_longer_than_its_lease_opens_another_operation(self):
        with self.locks.hold(exclusive=["long away"]):
            waiting = self.locks.hold(exclusive=["long away"], wait=PATIENCE)
            first = waiting.id
            thread = threading.Thread(target=lambda: waiting.__enter__().__exit__(None, None, None))
            thread.start()
            self.wait_until(lambda: self.entry(first) is not None, "it opens no operation")
            self.server.request("clearing up", "DELETE", f"/{self.name}-journal/_doc/{first}")
            self.wait_until(lambda: waiting.id != first, "it opens no other operation")
        thread.join(PATIENCE)
        self.assertNotEqual(waiting.id, first)
        self.assertIsNotNone(waiting.token)

    def test_who_waits_renews_its_entry(self):
        with self.locks.hold(exclusive=["wanted"]):
            waiting = self.locks.hold(exclusive=["wanted"], wait=PATIENCE)
            thread = threading.Thread(target=lambda: waiting.__enter__().__exit__(None, None, None))
            thread.start()
            seen = set()

            def renewed_twice():
                entry = self.entry(waiting.id)
                if entry is not None:
                    self.assertEqual(entry["state"], "pending")
                    seen.add(entry["lease_until"])
                return len(seen) == 3

            self.wait_until(renewed_twice, "its renewals")
        thread.join(PATIENCE)
        self.assertIsNone(self.entry(waiting.id))

    def test_an_index_of_locks_that_is_deleted_under_a_request_does_not_end_the_waiting(self):
        lock = self.locks.hold(exclusive=["deleted under"], wait=PATIENCE)
        send, gone = lock._server._send, []

        def answer(doing, method, path, data, headers):
            if path.endswith("/_bulk") and not gone:
                gone.append(path)
                error = {"type": "index_not_found_exception", "reason": "no such index"}
                return 200, json.dumps({"items": [{"update": {"status": 404, "error": error}}]}).encode()
            return send(doing, method, path, data, headers)

        lock._server._send = answer
        with lock:
            lock.check()
        self.assertEqual(len(gone), 1)

    def test_a_renewal_makes_no_index_that_was_deleted(self):
        index = f"{self.name}-gone-locks"
        journal = index.replace("-locks", "-journal")
        lock = Locks(self.engine, index, LEASE).hold(exclusive=["gone"], wait=PATIENCE)
        for each in (index, journal):
            self.server.request("making an index", "PUT", f"/{each}", {"mappings": {"_meta": {"lockstep": {"locks": 1}}}})
        with self.assertRaisesRegex(LeaseLost, "it was deleted; `lockstep locks prepare` makes it again"):
            with lock:
                self.server.request("deleting", "DELETE", f"/{index},{journal}")
                lock._keeper.join(PATIENCE)  # it ends when the lock is lost
        for each in (index, journal):
            self.assertEqual(self.server.request("looking", "GET", f"/{each}", accepted=(404,))[0], 404)

    def test_an_opening_that_arrives_twice_at_once_opens_one_operation(self):
        lock = self.locks.hold(exclusive=["opened twice"])
        others = [self.locks.hold(exclusive=["opened twice"]) for _ in range(4)]
        for other in others:
            other.id = lock.id
        failures = []

        def open_one(one):
            try:
                one._open()
            except LockstepError as error:
                failures.append(error)

        threads = [threading.Thread(target=open_one, args=(one,)) for one in [lock, *others]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual({one._entry for one in others}, {lock._entry})
        lock._give_up("aborted")
        for one in [lock, *others]:
            one._server.close()

    def test_a_lost_answer_to_its_end_is_no_loss_of_the_lock(self):
        lock = self.locks.hold(exclusive=["ended twice"])
        send, twice = lock._server._send, []

        def repeat_the_end(doing, method, path, data, headers):
            if data is not None and b'"state": "done"' in data and not twice:
                twice.append(send(doing, method, path, data, headers))
            return send(doing, method, path, data, headers)

        lock._server._send = repeat_the_end
        with lock:
            pass
        self.assertEqual([status for status, _ in twice], [200])
        self.assertIsNone(self.entry(lock.id))
        self.assertEqual(self.server.request("reading", "GET", f"/{self.index}/_doc/ended%20twice", accepted=(404,))[0], 404)

    def test_a_lock_that_vanishes_is_lost(self):
        lock = self.locks.hold(exclusive=["vanishing"])
        lock.__enter__()
        self.server.request("deleting", "DELETE", f"/{self.index}/_doc/vanishing")
        lock._keeper.join(PATIENCE)
        with self.assertRaises(LeaseLost):
            lock.check()
        with self.assertRaises(LeaseLost):
            lock.__exit__(None, None, None)

    def test_a_broken_lock_is_lost_and_says_who_broke_it(self):
        lock = self.locks.hold(exclusive=["broken"])
        lock.__enter__()
        self.assertEqual(self.lockstep("locks", "break", "broken", "--yes").returncode, 0)
        lock._keeper.join(PATIENCE)
        with self.assertRaisesRegex(LeaseLost, "its lock was broken by "):
            lock.check()


if __name__ == "__main__":
    unittest.main()
