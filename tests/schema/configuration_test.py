"""The examples' configurations against their databases: what they name is there, the mappings have a field for every column
of the view and no other, and the tracks find exactly the documents that a change changes."""
import json
import os
import tomllib
import unittest

from database import CONFIG, DatabaseTest, literal
from views import TAILER


def configuration(name):
    with open(os.path.join(CONFIG, name + ".toml"), "rb") as file:
        parsed = tomllib.load(file)
    (index,) = parsed["index"]
    with open(os.path.join(CONFIG, index["mapping"]), encoding="utf-8") as file:
        index["mapping"] = json.load(file)
    return parsed, index


class Configuration(DatabaseTest):
    install = ["fs/postgresql/install.sql", "blog/postgresql/install.sql"]
    names = ["fs", "fs-by-id", "blog", "blog-nested", "blog-join"]

    def test_each_has_names_of_its_own(self):
        self.assertEqual([configuration(name)[0]["pipeline"] for name in self.names], self.names)
        self.assertEqual(len({configuration(name)[1]["alias"] for name in self.names}), len(self.names))

    def test_the_mapping_has_a_field_for_each_column_of_the_view(self):
        for name in self.names:
            _, index = configuration(name)
            columns = self.sql.rows("select attname as name from pg_attribute "
                                    f"where attrelid = {literal(index['view'])}::regclass and attnum > 0")
            fields = [column["name"] for column in columns if not column["name"].startswith("_")]
            self.assertEqual(sorted(index["mapping"]["mappings"]["properties"]), sorted(fields), name)
            self.assertEqual(index["mapping"]["mappings"]["dynamic"], "strict", name)
            self.assertEqual(set(index["mapping"]), {"settings", "mappings"}, name)

    def test_what_the_tracks_name_is_there(self):
        for name in self.names:
            _, index = configuration(name)
            for track in index["track"]:
                self.sql.run(f"select {track.get('row', 'id')} from {track['table']} limit 0")
                if "column" in track:
                    self.sql.run(f"select {track['column']} from {index['view']} limit 0")
                for column in track.get("columns", []):
                    self.sql.run(f"select {column} from {track['table']} limit 0")


class Tracks(DatabaseTest):
    """Applies the tracks of a configuration as Lockstep does: from the old and new row values of a change to documents."""

    install = ["fs/postgresql/install.sql", "blog/postgresql/install.sql"]

    def documents(self, index):
        return {row["_id"]: row for row in self.sql.rows(f"select * from {index['view']}")}

    def rows_of(self, track):
        value = track.get("row", "id")
        return {row["id"]: row for row in self.sql.rows(f"select *, {value} as _value from {track['table']}")}

    def by_keys(self, keys, values):
        self.sql.run(TAILER)
        self.sql.run(f"prepare keys(bigint[]) as {keys}")
        try:
            return [int(line) for line in self.sql.run(f"execute keys({literal(sorted(values))}::bigint[])").splitlines()]
        finally:
            self.sql.run("deallocate keys")

    def found(self, track, index, values):
        """The documents that a track finds for row values."""
        if not values:
            return set()
        if "keys" in track:
            return set(self.by_keys(track["keys"], values))
        if "column" in track:
            return {row["_id"] for row in self.sql.rows(
                f"select _id from {index['view']} where {track['column']} = any({literal(sorted(values))})")}
        return values

    def setUp(self):
        self.sql.run("begin")

    def tearDown(self):
        self.sql.run("rollback")

    def assert_found(self, name, change, surplus=0):
        """After the change, the tracks find every document that changed, and at most `surplus` others."""
        _, index = configuration(name)
        documents = self.documents(index)
        tables = [self.rows_of(track) for track in index["track"]]
        self.sql.run(change)
        after = self.documents(index)
        changed = {key for key in documents.keys() | after.keys() if documents.get(key) != after.get(key)}
        found = set()
        for track, old in zip(index["track"], tables):
            new = self.rows_of(track)
            values = set()
            for key in old.keys() | new.keys():
                was, now = old.get(key), new.get(key)
                if was and now and all(was[c] == now[c] for c in track.get("columns", was)):
                    continue
                values |= {row["_value"] for row in (was, now) if row and row["_value"] is not None}
            found |= self.found(track, index, values)
        self.assertLessEqual(changed, found, f"{name}: {change}: not found")
        self.assertLessEqual(len(found - changed), surplus, f"{name}: {change}: found without need: {found - changed}")
        return len(changed)

    def test_fs(self):
        for name, renamed, moved in [("fs", 5, 5), ("fs-by-id", 1, 5)]:
            self.sql.run("select fs.mkdir('/a/b/c'), fs.put('/a/b/f', 'x'), fs.put('/a/b/c/g', 'y'), fs.mkdir('/d')")
            self.assertEqual(self.assert_found(name, "select fs.rename('/a', '/e')"), renamed)
            self.assertEqual(self.assert_found(name, "select fs.rename('/e', '/d/e')"), moved)
            self.assertEqual(self.assert_found(name, "select fs.rename('/d/e/b/f', '/d/e/b/h')"), 1)
            self.assertEqual(self.assert_found(name, "select fs.put('/d/e/b/h', 'z')"), 1)
            self.assertEqual(self.assert_found(name, "select fs.put('/d/e/b/i', 'z'), fs.mkdir('/d/e/j')"), 2)
            self.assertEqual(self.assert_found(name, "select fs.remove('/d/e')"), 7)
            self.tearDown()
            self.setUp()

    def test_fs_finds_everything_below_several_directories_once(self):
        self.sql.run("select fs.mkdir('/a/b/c'), fs.put('/a/b/f', 'x'), fs.mkdir('/d/e')")
        _, index = configuration("fs")
        every = {row["id"] for row in self.sql.rows("select id from fs.nodes")}
        found = self.by_keys(index["track"][1]["keys"], every)
        self.assertEqual(len(found), len(set(found)))
        self.assertEqual(set(found), every - {self.sql.value("select fs.find('/')")})

    def test_blog(self):
        for name, renamed, moved, deleted in [("blog", 2, 1, 2), ("blog-nested", 1, 2, 1), ("blog-join", 1, 1, 3)]:
            self.sql.run("insert into blog.users (id, name, email) values (1, 'John', 'j@e.org'), (2, 'Alice', null), (3, 'Zoe', null);"
                         "insert into blog.blogposts (id, title, user_id) values (1, 'a', 1), (2, 'b', 1), (3, 'c', 2), (4, 'd', null)")
            self.assertEqual(self.assert_found(name, "update blog.users set name = 'Jim' where id = 1"), renamed)
            self.assertEqual(self.assert_found(name, "update blog.blogposts set user_id = 2 where id = 1"), moved)
            self.assert_found(name, "update blog.blogposts set user_id = 3 where user_id is null")
            self.assert_found(name, "update blog.blogposts set user_id = null where id = 3")
            self.assertEqual(self.assert_found(name, "update blog.blogposts set title = 'x' where id = 2"), 1)
            self.sql.run("update blog.blogposts set user_id = 1 where id in (1, 2)")
            self.assertEqual(self.assert_found(name, "delete from blog.users where id = 1", surplus=2), deleted)
            self.assert_found(name, "insert into blog.users (id, name) values (9, 'new'); insert into blog.blogposts "
                                    "(id, title, user_id) values (9, 'n', 9), (10, 'm', null)", surplus=2)
            self.tearDown()
            self.setUp()


if __name__ == "__main__":
    unittest.main()
