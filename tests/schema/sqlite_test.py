"""The SQLite side of the examples: the same tables, views and operations give what PostgreSQL's do."""
import json
import os
import re
import sqlite3
import tomllib
import unittest

from database import CONFIG, SCHEMA


def statements_of(file):
    """The named statements of a file like operations.sql: "-- name: …" and the statement behind it."""
    with open(os.path.join(SCHEMA, file), encoding="utf-8") as text:
        parts = re.split(r"^-- (\w+): .*$", text.read(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


class SqliteTest(unittest.TestCase):
    files = ()

    def setUp(self):
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.addCleanup(self.db.close)
        self.db.row_factory = sqlite3.Row
        self.db.execute("pragma foreign_keys = on")
        for _ in range(2):  # installing again does no harm
            for file in self.files:
                with open(os.path.join(SCHEMA, file), encoding="utf-8") as text:
                    self.db.executescript(text.read())

    def configured(self, name):
        """The index of a configuration, whose view gives what its mapping has, and whose tracks name what is there."""
        with open(os.path.join(CONFIG, name + ".toml"), "rb") as file:
            (index,) = tomllib.load(file)["index"]
        with open(os.path.join(CONFIG, index["mapping"]), encoding="utf-8") as file:
            fields = json.load(file)["mappings"]["properties"]
        columns = [row[1] for row in self.rows(f"pragma table_info({index['view']})")]
        self.assertEqual(sorted(fields), sorted(column for column in columns if not column.startswith("_")))
        self.assertLessEqual(set(index.get("json", [])), set(columns))
        for track in index["track"]:
            self.assertLessEqual({track.get("column", "_id")}, set(columns))
            self.assertLessEqual(set(track.get("columns", [])), {row[1] for row in self.rows(f"pragma table_info({track['table']})")})
        return index

    def rows(self, query, *arguments):
        return [tuple(row) for row in self.db.execute(query, *arguments)]

    def plan(self, query):
        return " | ".join(row["detail"] for row in self.db.execute("explain query plan " + query))


class Fs(SqliteTest):
    files = ["fs/sqlite/tables.sql", "fs/sqlite/documents.sql"]

    def setUp(self):
        super().setUp()
        self.statements = statements_of("fs/sqlite/operations.sql")
        self.a = self.operation("mkdir", directory=self.find("/"), name="a")
        self.b = self.operation("mkdir", directory=self.a, name="b c")
        self.f = self.operation("put", directory=self.b, name="f", contents="x")

    def operation(self, operation, **parameters):
        rows = self.rows(self.statements[operation], parameters)
        return rows[0][0] if rows else None

    def find(self, path):
        return self.operation("find", path=path)

    def test_find(self):
        self.assertEqual([self.find(path) for path in ["/a", "/a/b c", "/a/b c/f", "/nix", "/a/nix", "/a/b c/f/g"]],
                         [self.a, self.b, self.f, None, None, None])

    def test_put_and_mkdir_again_keep_the_node(self):
        self.assertEqual(self.operation("put", directory=self.b, name="f", contents="y"), self.f)
        self.assertEqual(self.rows("select contents from nodes where id = ?", [self.f]), [("y",)])
        self.assertEqual(self.operation("mkdir", directory=self.a, name="b c"), self.b)

    def test_files_and_directories_do_not_take_each_others_place(self):
        self.assertIsNone(self.operation("put", directory=self.a, name="b c", contents="x"))
        self.assertIsNone(self.operation("mkdir", directory=self.b, name="f"))
        self.assertIsNone(self.operation("put", directory=self.f, name="g", contents="x"))
        self.assertIsNone(self.operation("rename", id=self.a, directory=self.f, name="g"))

    def test_documents(self):
        self.assertEqual(self.rows("select * from documents order by _id"), [
            (self.a, "a", "/", "directory", None), (self.b, "b c", "/a", "directory", None), (self.f, "f", "/a/b c", "file", "x")])
        root = self.find("/")
        self.assertEqual(
            [(row["_id"], row["parent_id"], json.loads(row["ancestors"]))
             for row in self.db.execute("select * from documents_by_id order by _id")],
            [(self.a, root, [root]), (self.b, self.a, [root, self.a]), (self.f, self.b, [root, self.a, self.b])])

    def test_rename_changes_one_row_and_remove_takes_all_below(self):
        before = self.db.total_changes
        self.operation("rename", id=self.a, directory=self.find("/"), name="z")
        self.assertEqual(self.db.total_changes - before, 1)
        self.assertEqual(self.find("/z/b c/f"), self.f)
        self.operation("remove", id=self.a)
        self.assertEqual(self.rows("select * from documents"), [])
        self.assertIsNone(self.operation("remove", id=self.find("/")))

    def test_what_the_table_refuses(self):
        for statement in [f"update nodes set parent_id = {self.b} where id = {self.a}",
                          f"update nodes set parent_id = id where id = {self.a}",
                          "insert into nodes (name, kind) values ('', 'directory')",
                          f"insert into nodes (parent_id, name, kind) values ({self.a}, 'b c', 'file')",
                          f"insert into nodes (parent_id, name, kind) values ({self.a}, 'x/y', 'file')",
                          "insert into nodes (parent_id, name, kind) values (-1, 'x', 'file')"]:
            with self.assertRaises(sqlite3.IntegrityError, msg=statement):
                self.db.execute(statement)

    def test_what_is_below_is_found_from_a_json_array(self):
        keys = self.configured("fs-sqlite")["track"][1]["keys"].replace("$1", "?1")
        self.assertEqual(self.rows(keys, [json.dumps([self.a, self.b])]), [(self.b,), (self.f,)])
        self.assertEqual(self.rows(keys, [json.dumps([self.f])]), [])

    def test_pages_and_chunks_are_looked_up(self):
        for view in ["documents", "documents_by_id"]:
            for condition in ["_id > 2 order by _id limit 9", "_id in (select value from json_each('[1,2]'))"]:
                plan = self.plan(f"select * from {view} where {condition}")
                self.assertRegex(plan, r"SEARCH n USING INTEGER PRIMARY KEY .*SEARCH p USING INTEGER PRIMARY KEY")


class Blog(SqliteTest):
    files = ["blog/sqlite/tables.sql", "blog/sqlite/documents.sql"]

    def setUp(self):
        super().setUp()
        self.db.executescript("""
            insert into users (id, name, email) values (1, 'John', 'j@e.org'), (2, 'Alice', null);
            insert into blogposts (id, title, body, user_id) values (7, 'b', 'x', 1), (3, 'a', 'y', 1), (4, 'c', '', null)""")

    def documents(self, view, *json_columns):
        return [{key: json.loads(row[key]) if key in json_columns and row[key] is not None else row[key] for key in row.keys()}
                for row in self.db.execute(f"select * from {view} order by _id")]

    def test_documents(self):
        john = {"id": 1, "name": "John"}
        self.assertEqual(self.documents("documents", "user"), [
            {"_id": 3, "_user_id": 1, "title": "a", "body": "y", "user": john},
            {"_id": 4, "_user_id": None, "title": "c", "body": "", "user": None},
            {"_id": 7, "_user_id": 1, "title": "b", "body": "x", "user": john}])

    def test_users_with_posts(self):
        self.assertEqual(self.documents("users_with_posts", "posts"), [
            {"_id": 1, "name": "John",
             "posts": [{"id": 3, "title": "a", "body": "y"}, {"id": 7, "title": "b", "body": "x"}]},
            {"_id": 2, "name": "Alice", "posts": []}])

    def test_users_and_posts(self):
        documents = {row.pop("_id"): row for row in self.documents("users_and_posts", "relation")}
        self.assertEqual(sorted(documents), ["post-3", "post-4", "post-7", "user-1", "user-2"])
        self.assertEqual(documents["post-3"], {"_routing": "user-1", "name": None, "title": "a", "body": "y",
                                               "relation": {"name": "post", "parent": "user-1"}})
        self.assertEqual(documents["post-4"], {"_routing": "post-4", "name": None, "title": "c", "body": "",
                                               "relation": {"name": "post", "parent": "nobody"}})
        self.assertEqual(documents["user-2"], {"_routing": "user-2", "name": "Alice", "title": None, "body": None,
                                               "relation": {"name": "user"}})

    def test_the_configuration_fits_and_the_sample_fills_it(self):
        self.assertEqual(self.configured("blog-sqlite")["json"], ["user"])
        with open(os.path.join(SCHEMA, "blog/sqlite/sample.sql"), encoding="utf-8") as text:
            self.db.executescript(text.read())
        self.assertEqual(self.rows("select count(*), sum(user_id is null), count(distinct title) > 10000 from blogposts"),
                         [(20003, 401, 1)])

    def test_a_deleted_user_leaves_their_posts(self):
        self.db.execute("delete from users where id = 1")
        self.assertEqual({row["user"] for row in self.documents("documents")}, {None})

    def test_pages_and_chunks_are_looked_up(self):
        for condition in ["_id > 2 order by _id limit 9", "_id in (select value from json_each('[1,2]'))",
                          "_user_id in (select value from json_each('[1,2]'))"]:
            self.assertNotIn("SCAN p", self.plan(f"select * from documents where {condition}"))
        self.assertNotIn("SCAN u", self.plan("select * from users_with_posts where _id > 2 order by _id limit 9"))


if __name__ == "__main__":
    unittest.main()
