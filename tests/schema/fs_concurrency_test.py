"""Several connections change the tree at once: first by twos, step by step, then many at random. Whatever happens, the tree
stays a tree, and everybody gets the answer that some order of the changes would have given."""
import collections
import os
import random
import threading
import time
import unittest

from database import DatabaseTest, Session, SqlError

# Of the functions' errors, those that a change by somebody else can cause; and "try again".
EXPECTED_CODES = {"UX002", "UX017", "UX040", "40001", "40P01"}

SEED = int(os.environ.get("LOCKSTEP_TEST_SEED", time.time_ns() % 1_000_000))
SECONDS = float(os.environ.get("LOCKSTEP_TEST_SECONDS", 4))


class TwoAtOnce(DatabaseTest):
    install = ["fs/postgresql/install.sql"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.one = cls.session()
        cls.two = cls.session()

    def setUp(self):
        self.sql.run("delete from fs.nodes where parent_id is not null")
        self.sql.run("select fs.mkdir('/a/b'), fs.mkdir('/c/d'), fs.put('/a/f', 'x')")

    def tearDown(self):
        self.one.run("rollback")
        self.two.run("rollback")

    def paths(self):
        return {row["p"] for row in self.sql.rows("select fs.path(id) as p from fs.nodes where parent_id is not null")}

    def one_then_two(self, first, second, isolation="read committed", expected=None):
        """`first` in a transaction; `second` in another that begins before the first one ends, and waits for it. Asserts that
        `second` ends with the SQLSTATE `expected`, or without an error."""
        self.two.run(f"begin isolation level {isolation}; select count(*) from fs.nodes")
        self.one.run(f"begin; select {first}")
        self.two.start(f"select {second}")
        self.wait_until_blocked(self.two)
        self.one.run("commit")
        code = None
        try:
            self.two.finish()
        except SqlError as error:
            code = error.code
        self.two.run("commit")
        self.assertEqual(code, expected, second)

    def side_by_side(self, first, second):
        """Both in transactions of their own that are open at the same time: neither waits."""
        self.one.run(f"begin; select {first}")
        self.two.run(f"set lock_timeout = '10s'; begin; select {second}")
        self.two.run("commit")
        self.one.run("commit")

    def test_two_moves_cannot_close_a_circle(self):
        self.one_then_two("fs.rename('/a', '/c/d/a')", "fs.rename('/c', '/a/b/c')", expected="UX040")
        self.assertEqual(self.paths(), {"/c", "/c/d", "/c/d/a", "/c/d/a/b", "/c/d/a/f"})

    def test_two_moves_cannot_close_a_circle_by_updates_of_their_own(self):
        move = "update fs.nodes set parent_id = fs.find('{}') where id = fs.find('{}')"
        for isolation, expected in [("read committed", "UX040"), ("repeatable read", "40001"), ("serializable", "40001")]:
            with self.subTest(isolation):
                self.setUp()
                self.one_then_two("1; " + move.format("/c/d", "/a"), "1; " + move.format("/a/b", "/c"), isolation, expected)
                self.assertEqual(self.paths(), {"/c", "/c/d", "/c/d/a", "/c/d/a/b", "/c/d/a/f"})

    def test_under_a_fixed_snapshot_the_second_move_is_to_be_tried_again(self):
        for isolation in ["repeatable read", "serializable"]:
            with self.subTest(isolation):
                self.setUp()
                self.one_then_two("fs.rename('/a', '/c/d/a')", "fs.rename('/c', '/a/b/c')", isolation, "40001")

    def test_a_file_renamed_twice_goes_where_the_first_says(self):
        self.one_then_two("fs.rename('/a/f', '/a/g')", "fs.rename('/a/f', '/a/h')", expected="UX002")
        self.assertIn("/a/g", self.paths())

    def test_a_name_taken_meanwhile_exists(self):
        self.one_then_two("fs.put('/a/g', 'x')", "fs.rename('/a/f', '/a/g')", expected="UX017")
        self.one_then_two("fs.mkdir('/a/e')", "fs.put('/a/e', 'x')", expected="UX021")
        self.one_then_two("fs.put('/a/h', 'x')", "fs.mkdir('/a/h')", expected="UX017")

    def test_what_was_removed_meanwhile_is_not_there(self):
        for second in ["fs.put('/a/b/f', 'x')", "fs.rename('/c', '/a/b/c')", "fs.rename('/a/b', '/b')", "fs.remove('/a/b')"]:
            self.setUp()
            self.one_then_two("fs.remove('/a')", second, expected="UX002")
            self.assertEqual(self.paths(), {"/c", "/c/d"})

    def test_a_directory_removed_and_made_again_is_the_new_one(self):
        self.one_then_two("fs.remove('/a/b'), fs.mkdir('/a/b')", "fs.put('/a/b/f', 'x')")
        self.assertEqual(self.paths(), {"/a", "/a/b", "/a/b/f", "/a/f", "/c", "/c/d"})

    def test_what_was_renamed_meanwhile_is_not_removed(self):
        self.one_then_two("fs.rename('/a', '/e')", "fs.remove('/a')", expected="UX002")
        self.assertEqual(self.paths(), {"/c", "/c/d", "/e", "/e/b", "/e/f"})

    def test_what_is_put_into_a_directory_meanwhile_is_removed_with_it(self):
        self.one_then_two("fs.put('/a/b/new', 'x')", "fs.remove('/a')")
        self.assertEqual(self.paths(), {"/c", "/c/d"})

    def test_both_who_need_a_directory_get_it(self):
        self.one_then_two("fs.mkdir('/new/x')", "fs.mkdir('/new/y')")
        self.assertLessEqual({"/new", "/new/x", "/new/y"}, self.paths())

    def test_both_who_write_a_new_file_write_the_same_one(self):
        self.one_then_two("fs.put('/new', 'one')", "fs.put('/new', 'two')")
        self.assertEqual(self.sql.rows("select contents from fs.nodes where name = 'new'"), [{"contents": "two"}])

    def test_renaming_a_directory_and_adding_to_it_do_not_wait_for_each_other(self):
        self.side_by_side("fs.rename('/a', '/e')", "fs.put('/a/g', 'x')")
        self.side_by_side("fs.put('/e/h', 'x')", "fs.rename('/e', '/a')")
        self.assertLessEqual({"/a/g", "/a/h"}, self.paths())

    def test_moves_to_the_same_place_and_names_elsewhere_do_not_wait_for_each_other(self):
        self.side_by_side("fs.rename('/a/b', '/c/d/b')", "fs.rename('/a/f', '/c/d/f')")
        self.side_by_side("fs.rename('/c/d/f', '/c/d/g')", "fs.rename('/c/d/b', '/a/b')")
        self.side_by_side("fs.rename('/a/b', '/b')", "fs.rename('/c/d', '/d')")
        self.assertEqual(self.paths(), {"/a", "/b", "/c", "/d", "/d/g"})


class ManyAtRandom(DatabaseTest):
    install = ["fs/postgresql/install.sql"]
    connections = 6
    directories = 60

    def storm(self, isolation, statement):
        """Every connection runs statements, each a transaction, until the time is over; only errors that another's
        change can cause are allowed."""
        results = collections.Counter()
        end = time.monotonic() + SECONDS

        def run(number):
            rng = random.Random(f"{SEED} {isolation} {number}")
            session = Session(self.url)
            session.run(f"set default_transaction_isolation = '{isolation}'; set deadlock_timeout = '20ms'")
            while time.monotonic() < end:
                try:
                    session.run(statement(rng))
                    results["done"] += 1
                except SqlError as error:
                    results[error.code] += 1
            session.close()

        threads = [threading.Thread(target=run, args=(n,)) for n in range(self.connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        done = results.pop("done", 0)
        print(f"\n  {isolation}, {self.connections} connections, seed {SEED}: {done / SECONDS:,.0f} changes/s, "
              f"refused: {dict(results)}")
        self.assertLessEqual(set(results), EXPECTED_CODES)
        self.assertGreater(done, 0)

    def assert_is_a_tree(self):
        self.assertEqual(
            self.sql.value("""
                with recursive down (id) as (
                  select id from fs.nodes where parent_id is null
                  union all
                  select n.id from down join fs.nodes n on n.parent_id = down.id
                )
                select array[(select count(*) from down), (select count(*) from fs.nodes)]"""),
            [self.sql.value("select count(*) from fs.nodes")] * 2, f"a circle or an orphan; LOCKSTEP_TEST_SEED={SEED}")

    def test_directories_moved_at_random_stay_a_tree(self):
        for isolation in ["read committed", "repeatable read"]:
            with self.subTest(isolation):
                self.sql.run("delete from fs.nodes where parent_id is not null")
                ids = [self.sql.value(f"select fs.mkdir('/d{n}')") for n in range(self.directories)]

                def move(rng):
                    node, target = rng.sample(ids, 2)
                    return (f"select fs.rename(fs.path(n.id), fs.path({target}) || '/' || n.name) "
                            f"from fs.nodes n where n.id = {node}")

                self.storm(isolation, move)
                self.assert_is_a_tree()
                self.assertEqual(self.sql.value("select count(*) from fs.nodes"), self.directories + 1)

    def test_everything_at_random_stays_a_tree(self):
        for isolation in ["read committed", "serializable"]:
            with self.subTest(isolation):
                self.sql.run("delete from fs.nodes where parent_id is not null")
                self.sql.run("select fs.mkdir('/a/b/c'), fs.mkdir('/b/c/a'), fs.mkdir('/c/a/b')")

                def path(rng):
                    return "".join("/" + rng.choice("abcd") for _ in range(rng.randint(1, 4)))

                def change(rng):
                    return "select " + rng.choices([
                        lambda: f"fs.rename('{path(rng)}', '{path(rng)}')", lambda: f"fs.mkdir('{path(rng)}')",
                        lambda: f"fs.put('{path(rng)}/f{rng.randint(0, 3)}', 'x')", lambda: f"fs.remove('{path(rng)}')",
                    ], weights=[5, 4, 4, 1])[0]()

                self.storm(isolation, change)
                self.assert_is_a_tree()


if __name__ == "__main__":
    unittest.main()
