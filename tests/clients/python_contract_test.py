"""The Python package under the contract that the backends of the program keep (tests/contract/lock_contract_*.cc), case by case, and
what is stored as nobody has foreseen. CONTRACT says which test answers which case."""
import glob
import json
import os
import re
import subprocess
import sys
import threading
import time
import unittest

from lock_world import PATIENCE, PROGRAM, ROOT, LockWorld
from lockstep_locks import LeaseLost, LockBusy, Locks, LockstepError
from lockstep_locks.stored import MAX_FENCE, fence_of, holders_of, state_of
import python_locks_test

SHORT = 1.0  # a lease that is over soon
NEVER_ADOPTS = "the package adopts nothing: test_what_the_tree_has_left_half_done_is_named_and_left_alone"
TAKEN_ONCE = "a lock is taken once, as it is: test_a_lock_is_taken_once"
IN_THE_SCRIPTS = "the stored scripts do it, which the program's suite tests"

CONTRACT = {
    "ARenewedLeaseOutlivesItsFirstTerm": "test_a_renewed_lease_outlives_its_first_term",
    "WhoDiesBeforeItsCommitIsAbortedAndCannotCommitWhenItWakesUp": "test_who_sleeps_before_its_commit_is_aborted",
    "WhoIsOnlyLateKeepsItsLocks": "test_who_is_only_late_keeps_its_locks",
    "ACommandThatDiesUnderItsLockLosesItAndTheNextTokenIsGreater": "test_who_sleeps_for_longer_than_its_lease_writes_nothing_afterwards",
    "WhoDiesAfterItsCommitIsRolledForwardBeforeItsLocksAreFree": NEVER_ADOPTS,
    "TheLocksOfAnAdoptedOperationAreNotItsOldOwnersToRelease": NEVER_ADOPTS,
    "ADeadAdopterIsAdoptedAgain": NEVER_ADOPTS,
    "LocksThatWereNotReleasedAfterTheEndAreFreeWhenTheirLeaseIsOver": "test_locks_that_were_not_released_after_the_end_are_free_later",
    "ALockThatArrivesAfterItsOperationWasAbortedIsVoid": "test_a_lock_that_arrives_after_its_operation_was_aborted_is_void",
    "ASweepClearsUpAfterAllWhoDied": "`lockstep tree recover` sweeps",
    "TheWholeCompatibilityMatrix": "test_sharers_share_and_nobody_shares_with_an_exclusive_holder",
    "WhatRunsUnderALockIsNotKeptOutByIt": "test_what_runs_under_a_lock_is_not_kept_out_by_it",
    "AnUpgradeNeedsToBeAloneAndADowngradeLetsOthersIn": TAKEN_ONCE,
    "ADowngradeByWhoDoesNotHoldItChangesNothing": TAKEN_ONCE,
    "ATreeLockKeepsOthersFromWhatIsAboveAndBelowAndFromItsTarget": "test_the_program_and_python_respect_each_other",
    "APlaceInTheQueueKeepsNewSharersOut": IN_THE_SCRIPTS,
    "ThoseWhoWaitGetTheLockInTheirOrderAndSharersTogether": "test_those_who_wait_get_the_lock_in_their_order",
    "WhoWaitsForTwoLocksKeepsItsPlaceAtTheFirstAndGivesUpThoseBehind": IN_THE_SCRIPTS,
    "ADirectoryIsHadThroughAStreamOfChangesBelowIt": IN_THE_SCRIPTS,
    "ManySharersJoinAndLeaveAtOnceAndTheCountIsRight": IN_THE_SCRIPTS,
    "AFreeLockIsHadAndARefusedOneSaysByWhomAndUntilWhen": "test_a_set_is_had_as_a_whole_or_not_at_all",
    "ASetIsHadAsAWholeOrNotAtAll": "test_a_set_is_had_as_a_whole_or_not_at_all",
    "ALockIsReentrantForItsOperationOnly": TAKEN_ONCE,
    "ReleasingWhatSomebodyElseHoldsChangesNothing": "test_who_sleeps_before_its_commit_is_aborted",
    "AnyTextIsAName": "test_any_text_is_a_name",
    "TokensGrowWithEachCommit": "test_any_text_is_a_name",
    "TheJournalSaysWhatIsBeingDone": "test_nothing_is_left_of_an_operation_that_is_over_or_was_refused",
    "ABrokenLockIsFreeAndItsHolderIsDeposed": "test_a_broken_lock_is_lost_and_says_who_broke_it",
    "WaitingIsBoundedAndGivesEverythingBack": "test_waiting_is_bounded_and_gives_everything_back",
    "WhoWaitsGetsItSoonAfterItIsFreeAndOutlivesItsOwnLeaseMeanwhile": "test_who_waits_renews_its_entry",
    "AStopEndsTheWaiting": "test_a_stop_ends_the_waiting",
    "WhoDiesWhileItWaitsDoesNotHoldUpOthersForLong": IN_THE_SCRIPTS,
    "NobodyIsInTheLockTogetherAndNobodyWaitsForever": "test_a_change_under_the_lock_loses_nothing_beside_others",
}

HOLD_BELOW = """
import sys
sys.path.insert(0, sys.argv[1])
from lockstep_locks import LockBusy, Locks
try:
    with Locks(sys.argv[2], sys.argv[3]).hold(tree=[sys.argv[4]], wait=1):
        print("had")
except LockBusy:
    print("busy")
"""


class CoverageTest(unittest.TestCase):
    def test_each_case_of_the_contract_has_its_answer(self):
        cases = set()
        for path in glob.glob(os.path.join(ROOT, "tests", "contract", "lock_contract_*.cc")):
            with open(path, encoding="utf-8") as source:
                cases.update(re.findall(r"^TEST_P\(\w+, (\w+)\)", source.read(), re.MULTILINE))
        self.assertEqual(cases, set(CONTRACT))
        for answer in CONTRACT.values():
            for name in re.findall(r"test_\w+", answer):
                self.assertTrue(hasattr(ContractTest, name) or hasattr(python_locks_test.LocksTest, name), name)


class StoredTest(unittest.TestCase):
    def test_a_fence_is_a_whole_number_also_as_text(self):
        for fence, number in [(None, 0), (17, 17), ("17", 17), (MAX_FENCE, MAX_FENCE), (-1, -1)]:
            self.assertEqual(fence_of("it", {"fence": fence}), number)
        for fence in [True, 1.5, "1.5", "", " 1", "--5", "²", "٣", "x", [], {}, MAX_FENCE + 1, 2**63, "9" * 40]:
            with self.assertRaisesRegex(LockstepError, "no fencing token", msg=repr(fence)):
                fence_of("it", {"fence": fence})

    def test_what_a_later_version_has_stored_is_named_and_not_guessed(self):
        for state in ["paused", None, 7]:
            with self.assertRaisesRegex(LockstepError, f"the operation x has the state {re.escape(json.dumps(state))}"):
                state_of("x", {"state": state})
        for lock in [{"lock_type": "upgradable"}, {"holders": {"x": {"until": 1, "mode": "intent"}}}, {"holders": {"x": {"until": "1"}}},
                     {"holders": {"x": {}}}, {"holders": {"x": 7.5}}]:
            with self.assertRaisesRegex(LockstepError, "which this package does not know", msg=lock):
                holders_of("name", lock)


class ContractTest(LockWorld):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.locks = Locks(cls.engine, cls.index, 20.0)
        cls.mortal = Locks(cls.engine, cls.index, SHORT)

    def begun(self, locks, **wanted):
        """A lock that is held and has not been committed, and that nobody renews."""
        lock = locks.hold(**wanted)
        self.addCleanup(lock._server.close)
        lock._server._timeout = PATIENCE
        lock._open()
        lock._acquire()
        return lock

    def entry(self, id):
        status, found = self.server.request("reading", "GET", f"/{self.name}-journal/_doc/{id}", accepted=(404,))
        return found["_source"] if status == 200 else None

    def lock_document(self, name):
        status, found = self.server.request("reading", "GET", f"/{self.index}/_doc/{name}", accepted=(404,))
        return found["_source"] if status == 200 else None

    def wait_for_death_of(self, lock, name):
        until = max(self.lock_document(name)["holders"][lock.id]["until"], self.entry(lock.id)["lease_until"])
        self.wait_until(lambda: lock._read_clock() > until + 500, "the end of the lease")

    def store_dead(self, name, kind, state):
        """What one leaves who died long ago."""
        self.server.request("writing", "PUT", f"/{self.index}/_doc/{name}", {
            "lock_type": "exclusive", "lock_count": 1, "process_id": "dead", "holders": {f"dead-{name}": {"until": 1, "calls": 1}}})
        self.server.request("writing", "PUT", f"/{self.name}-journal/_doc/dead-{name}", {
            "kind": kind, "state": state, "owner": f"dead-{name}", "epoch": 1, "token": 1, "lease_until": 1,
            "locks": {"shared": [], "exclusive": [name]}})

    # --- the cases of the contract

    def test_a_renewed_lease_outlives_its_first_term(self):
        with Locks(self.engine, self.index, 4.0).hold(exclusive=["renewed"], wait=PATIENCE) as lock:
            first = self.lock_document("renewed")["holders"][lock.id]["until"]
            self.wait_until(lambda: lock._read_clock() > first + 500, "the end of the first lease")
            with self.assertRaises(LockBusy):
                self.locks.hold(exclusive=["renewed"]).__enter__()
            lock.check()

    def test_who_sleeps_before_its_commit_is_aborted(self):
        zombie = self.begun(self.mortal, exclusive=["asleep"])
        with self.locks.hold(exclusive=["asleep"], wait=PATIENCE) as heir:
            with self.assertRaisesRegex(LeaseLost, zombie.id):
                zombie._commit()
            zombie._release()
            self.assertEqual(list(self.lock_document("asleep")["holders"]), [heir.id])
            heir.check()

    def test_who_is_only_late_keeps_its_locks(self):
        late = self.begun(self.mortal, exclusive=["late"])
        self.wait_for_death_of(late, "late")
        late._commit()
        late._give_up("done")
        self.assertIsNone(self.lock_document("late"))

    def test_locks_that_were_not_released_after_the_end_are_free_later(self):
        self.store_dead("over", "mv", "done")
        with self.locks.hold(exclusive=["over"]) as lock:
            self.assertEqual(list(self.lock_document("over")["holders"]), [lock.id])

    def test_a_lock_that_arrives_after_its_operation_was_aborted_is_void(self):
        late = self.mortal.hold(exclusive=["too late"])
        self.addCleanup(late._server.close)
        late._open()
        other = self.mortal.hold(exclusive=["too late"])
        self.addCleanup(other._server.close)
        other.id, other._entry = late.id, late._entry
        other._step({"state": "aborted"})
        late._acquire()
        with self.assertRaises(LeaseLost):
            late._commit()
        with self.locks.hold(exclusive=["too late"], wait=PATIENCE) as lock:
            lock.check()

    def test_what_the_tree_has_left_half_done_is_named_and_left_alone(self):
        self.store_dead("half", "mv", "running")
        with self.assertRaisesRegex(LockstepError, "half is locked by dead-half, which died .* `lockstep tree recover` finishes it"):
            self.locks.hold(exclusive=["half"]).__enter__()
        self.assertEqual(list(self.lock_document("half")["holders"]), ["dead-half"])
        self.assertEqual(self.entry("dead-half")["state"], "running")

    def test_sharers_share_and_nobody_shares_with_an_exclusive_holder(self):
        for held, asked, had in [("shared", "shared", True), ("shared", "exclusive", False), ("exclusive", "shared", False),
                                 ("exclusive", "exclusive", False)]:
            with self.locks.hold(**{held: ["matrix"]}) as first:
                second = self.locks.hold(**{asked: ["matrix"]})
                if had:
                    with second:
                        self.assertEqual(set(self.lock_document("matrix")["holders"]), {first.id, second.id})
                else:
                    with self.assertRaises(LockBusy) as busy:
                        second.__enter__()
                    self.assertEqual(busy.exception.holders, [first.id])
        self.assertIsNone(self.lock_document("matrix"))

    def test_what_runs_under_a_lock_is_not_kept_out_by_it(self):
        package = os.path.join(ROOT, "clients", "python")
        child = [sys.executable, "-B", "-c", HOLD_BELOW, package, self.engine, self.index, "/under/f"]
        under = self.lockstep("lock", "--tree", "/under", "--", *child)
        self.assertEqual(under.stdout, "had\n", under.stderr)
        with self.locks.hold(tree=["/under"]) as lock:
            for environment, had in [(lock.environment, True), ({"LOCKSTEP_LOCK": f"{lock.id}={lock.token + 1}"}, False)]:
                asked = subprocess.run([PROGRAM, "lock", "-c", self.config.name, "--tree", "/under/f", "--", "true"],
                                       env={**os.environ, **environment}, capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual(asked.returncode, 0 if had else 4, asked.stderr)
                asked = subprocess.run(child, env={**os.environ, **environment}, capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual(asked.stdout, "had\n" if had else "busy\n", asked.stderr)

    def test_those_who_wait_get_the_lock_in_their_order(self):
        order, threads = [], []

        def wait_for_it(number):
            with self.locks.hold(exclusive=["queue"], wait=PATIENCE):
                order.append(number)

        with self.locks.hold(exclusive=["queue"]):
            for number in range(3):
                threads.append(threading.Thread(target=wait_for_it, args=(number,)))
                threads[-1].start()
                self.wait_until(lambda: len(self.lock_document("queue").get("queue", [])) > number, "its place in the queue")
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(order), [0, 1, 2])
        self.assertEqual(order[0], 0)

    def test_a_set_is_had_as_a_whole_or_not_at_all(self):
        with self.locks.hold(document=["2"]) as first:
            refused = self.locks.hold(document=["1", "2", "3"])
            with self.assertRaisesRegex(LockBusy, "2 is locked exclusively by " + first.id):
                refused.__enter__()
            self.assertIsNone(self.lock_document("1"))
            self.assertIsNone(self.lock_document("3"))

    def test_any_text_is_a_name(self):
        last = 0
        for name in ["a b", "ä/ü", "%2F", "..", "\"", "\\", "#x", "?x=1", "_x", "𝄞", "x" * 600, "ü" * 2000]:
            with self.locks.hold(exclusive=[name]) as lock:
                self.assertGreater(lock.token, last)
                last = lock.token
                with self.assertRaises(LockBusy):
                    self.locks.hold(shared=[name]).__enter__()

    def test_waiting_is_bounded_and_gives_everything_back(self):
        with self.locks.hold(document=["b2"]):
            waiter = self.locks.hold(document=["b1", "b2"], wait=0.4)
            begun = time.monotonic()
            with self.assertRaises(LockBusy):
                waiter.__enter__()
            self.assertGreaterEqual(time.monotonic() - begun, 0.4)
            self.assertNotIn("queue", self.lock_document("b2"))
            self.assertIsNone(self.lock_document("b1"))
            self.assertIsNone(self.entry(waiter.id))

    def test_a_stop_ends_the_waiting(self):
        with self.locks.hold(exclusive=["stopped"]):
            waiter = self.locks.hold(exclusive=["stopped"], wait=PATIENCE)

            def stop(*_):
                raise KeyboardInterrupt

            waiter._resolve_dead = stop
            with self.assertRaises(KeyboardInterrupt):
                waiter.__enter__()
            self.assertIsNone(self.entry(waiter.id))

    def test_a_lock_is_taken_once(self):
        with self.locks.hold(exclusive=["once"]) as lock:
            with self.assertRaises(RuntimeError):
                lock.__enter__()
        with self.assertRaises(RuntimeError):
            lock.__enter__()
        self.assertIsNone(self.lock_document("once"))

    # --- attacks

    def test_a_write_whose_answer_is_lost_is_done_once(self):
        self.put({"count": 0}, "counted")
        with self.locks.hold(document=["counted"]) as lock:
            send = lock._server._send

            def twice(doing, method, path, data, headers):
                if method == "PUT":
                    send(doing, method, path, data, headers)
                return send(doing, method, path, data, headers)

            lock._server._send = twice
            for _ in range(3):
                lock.update(f"{self.name}-data", "counted", lambda document: {**document, "count": document["count"] + 1})
        self.assertEqual(self.document("counted")["count"], 3)

    def test_the_commit_and_the_end_outlast_a_server_that_restarts_or_compiles_too_many_scripts(self):
        lock = self.locks.hold(exclusive=["outlasts"], wait=PATIENCE)
        send, answered = lock._server._send, []
        restarted = 503, b'{"error": {"type": "master_not_discovered_exception", "reason": null}, "status": 503}'
        compiling = 400, json.dumps({"status": 400, "error": {
            "type": "illegal_argument_exception", "reason": "failed to execute script", "caused_by": {
                "type": "general_script_exception", "reason": "Failed to compile stored script", "caused_by": {
                    "type": "circuit_breaking_exception", "reason": "[script] Too many dynamic script compilations"}}}}).encode()
        failures = [restarted, compiling]

        def busy(doing, method, path, data, headers):
            if failures and (b'"running"' in (data or b"") or b'"done"' in (data or b"")):
                answered.append(failures[0])
                return failures.pop(0)
            return send(doing, method, path, data, headers)

        lock._server._send = busy
        with lock:
            self.assertEqual(len(answered), 2)
            failures.extend([restarted, compiling])
        self.assertEqual(len(answered), 4)
        self.assertIsNone(self.entry(lock.id))
        self.assertIsNone(self.lock_document("outlasts"))

    def test_a_fence_that_leaves_no_room_for_tokens_uses_up_none(self):
        for fence in [2**51 + 1, 2**53]:
            self.put({"fence": fence}, "last")
            with self.locks.hold(document=["last"]) as lock, self.assertRaisesRegex(LockstepError, "no fencing token|leaves no room"):
                lock.update(f"{self.name}-data", "last", lambda document: document)
            with self.locks.hold(document=["last"]) as lock:
                self.assertLess(lock.token, 2**51)

    def test_an_operation_in_an_unknown_state_is_named_and_left_alone(self):
        self.store_dead("unknown", "lock", "paused")
        with self.assertRaisesRegex(LockstepError, "the operation dead-unknown has the state \"paused\""):
            self.locks.hold(exclusive=["unknown"]).__enter__()
        self.assertEqual(self.entry("dead-unknown")["state"], "paused")
        self.assertEqual(list(self.lock_document("unknown")["holders"]), ["dead-unknown"])

    def test_a_lock_in_the_books_format_is_held_until_somebody_deletes_it(self):
        for stored, holder in [({"process_id": 123}, "123"), ({}, "somebody"), ({"lock_type": "shared", "lock_count": 2}, "somebody")]:
            self.server.request("writing", "PUT", f"/{self.index}/_doc/book", stored)
            with self.assertRaises(LockBusy) as busy:
                self.locks.hold(exclusive=["book"]).__enter__()
            self.assertEqual(busy.exception.holders, [holder])
        self.server.request("deleting", "DELETE", f"/{self.index}/_doc/book")
        with self.locks.hold(exclusive=["book"]) as lock:
            lock.check()


