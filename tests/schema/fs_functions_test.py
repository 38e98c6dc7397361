"""fs.put, fs.mkdir, fs.rename, fs.remove and what goes with them: what they do, and every error with its SQLSTATE."""
import os
import subprocess
import tempfile
import unittest

from database import SCHEMA, DatabaseTest, literal


class FsTest(DatabaseTest):
    install = ["fs/postgresql/install.sql"]

    def setUp(self):
        self.sql.run("delete from fs.nodes where parent_id is not null")

    def call(self, function, *arguments):
        return self.sql.value(f"select fs.{function}({', '.join(literal(a) for a in arguments)})")

    def assert_fails(self, code, text, function, *arguments):
        self.assert_error(code, text, f"select fs.{function}({', '.join(literal(a) for a in arguments)})")

    def tree(self):
        """Every path with its contents."""
        return {row["p"]: row["contents"] for row in
                self.sql.rows("select fs.path(id) as p, contents from fs.nodes where parent_id is not null")}


class Functions(FsTest):
    def row_versions(self):
        return self.sql.rows("select id, ctid, xmin::text from fs.nodes order by id")

    def test_installing_again_keeps_the_rows(self):
        node = self.call("put", "/README.txt", "once")
        self.psql("--file", os.path.join(SCHEMA, self.install[0]))
        self.assertEqual(self.call("put", "/README.txt", "twice"), node)
        self.assertEqual(self.sql.value("select count(*) from fs.nodes where parent_id is null"), 1)

    def test_mkdir_makes_what_is_missing_above_and_is_content_with_what_is_there(self):
        node = self.call("mkdir", "/clinton/projects/elasticsearch")
        self.assertEqual(self.tree(), {"/clinton": None, "/clinton/projects": None, "/clinton/projects/elasticsearch": None})
        self.assertEqual(self.call("mkdir", "/clinton/projects/elasticsearch"), node)
        self.assertEqual(self.call("find", "/clinton/projects/elasticsearch"), node)
        self.assertEqual(self.call("path", node), "/clinton/projects/elasticsearch")

    def test_mkdir_of_the_root_gives_the_root_and_brings_it_back_after_a_truncate(self):
        root = self.sql.value("select id from fs.nodes where parent_id is null")
        self.assertEqual(self.call("mkdir", "/"), root)
        self.sql.run("truncate fs.nodes")
        self.assert_fails("UX002", "/: no such file or directory", "put", "/a", "x")
        self.assertEqual(self.call("mkdir", "/a"), self.call("find", "/a"))
        self.assertEqual(self.call("path", self.call("find", "/")), "/")

    def test_put_writes_a_file_and_writes_it_again(self):
        self.call("mkdir", "/clinton")
        node = self.call("put", "/clinton/README.txt", "Starting a new Elasticsearch project is easy...")
        self.assertEqual(self.call("put", "/clinton/README.txt", "not so easy"), node)
        self.assertEqual(self.tree(), {"/clinton": None, "/clinton/README.txt": "not so easy"})
        self.call("put", "/clinton/README.txt", None)
        self.assertEqual(self.tree()["/clinton/README.txt"], None)

    def test_names_may_hold_anything_but_slashes(self):
        for name in ["with space", "quote'd \"twice\"", "back\\slash", "100%", "new\nline", "名前", "ß" * 127, "...", "*", "\U0001f600"]:
            node = self.call("put", "/" + name, name)
            self.assertEqual(self.call("path", node), "/" + name)
            self.assertEqual(self.call("find", "/" + name), node)

    def test_a_slash_too_many_does_not_matter(self):
        node = self.call("mkdir", "//a///b/")
        self.assertEqual(self.call("path", node), "/a/b")
        self.assertEqual(self.call("find", "/a/b//"), node)

    def test_find_gives_null_where_nothing_is(self):
        self.call("put", "/a", "x")
        self.assertIsNone(self.call("find", "/b"))
        self.assertIsNone(self.call("find", "/a/b"))
        self.assertIsNone(self.call("find", "/b/c"))
        self.assertIsNone(self.call("path", -1))

    def test_ls_lists_a_directory_by_name_and_a_file_as_itself(self):
        self.call("mkdir", "/d/b")
        self.call("put", "/d/a", "x")
        self.assertEqual([(r["name"], r["kind"]) for r in self.sql.rows("select * from fs.ls('/d')")],
                         [("a", "file"), ("b", "directory")])
        self.assertEqual([r["name"] for r in self.sql.rows("select * from fs.ls('/')")], ["d"])
        self.assertEqual([r["name"] for r in self.sql.rows("select * from fs.ls('/d/a')")], ["a"])
        self.assertEqual(self.sql.rows("select * from fs.ls('/d/b')"), [])

    def test_rename_takes_everything_below_along_and_changes_one_row(self):
        self.call("mkdir", "/clinton/projects/elasticsearch")
        node = self.call("put", "/clinton/projects/elasticsearch/README.txt", "x")
        for source, target, path in [
                ("/clinton", "/hillary", "/hillary/projects/elasticsearch/README.txt"),  # a name
                ("/hillary/projects", "/projects", "/projects/elasticsearch/README.txt"),  # a place
                ("/projects", "/hillary/jobs", "/hillary/jobs/elasticsearch/README.txt"),  # both
                ("/hillary/jobs/elasticsearch/README.txt", "/README.md", "/README.md")]:  # a file
            before = self.row_versions()
            moved = self.call("rename", source, target)
            self.assertEqual([now["id"] for was, now in zip(before, self.row_versions()) if was != now], [moved])
            self.assertEqual(self.call("path", node), path)
            self.assertIsNone(self.call("find", source))

    def test_rename_onto_itself_changes_nothing(self):
        node = self.call("mkdir", "/a/b")
        self.assertEqual(self.call("rename", "/a/b", "/a//b/"), node)
        self.assertEqual(self.tree(), {"/a": None, "/a/b": None})

    def test_remove_takes_a_file_or_everything_below_a_directory_in_one_statement(self):
        self.call("mkdir", "/a/b/c")
        self.call("put", "/a/b/c/f", "x")
        self.call("put", "/g", "y")
        directory = self.call("find", "/a")
        self.assertEqual(self.call("remove", "/a"), directory)
        self.assertEqual(self.tree(), {"/g": "y"})
        self.call("remove", "/g")
        self.assertEqual(self.tree(), {})

    def test_a_tree_as_deep_as_a_path_of_4096_bytes_can_be_made_renamed_and_removed(self):
        self.call("mkdir", "/a" * 2046)
        node = self.call("put", "/a" * 2046 + "/fil", None)
        self.call("rename", "/a", "/b")
        self.assertEqual(self.sql.value(f"select length(path || '/' || name) from fs.documents where _id = {node}"), 4096)
        self.call("remove", "/b")
        self.assertEqual(self.tree(), {})


class Errors(FsTest):
    def setUp(self):
        super().setUp()
        self.call("mkdir", "/d/e")
        self.call("put", "/d/f", "x")
        self.call("put", "/g", "y")

    def test_no_such_file_or_directory(self):
        for function, *arguments in [("put", "/nix/f", "x"), ("rename", "/nix", "/d/n"), ("rename", "/g", "/nix/g"),
                                     ("remove", "/nix"), ("remove", "/nix/f")]:
            self.assert_fails("UX002", "/nix: no such file or directory", function, *arguments)
        self.assert_fails("UX002", "/d/e/nix: no such file or directory", "rename", "/d/e/nix/x/y", "/z")
        self.assert_error("UX002", "/nix: no such file or directory", "select * from fs.ls('/nix/x')")

    def test_the_root_stays(self):
        self.assert_fails("UX016", "/: cannot be renamed or moved", "rename", "/", "/x")
        self.assert_fails("UX016", "/: cannot be removed", "remove", "/")

    def test_file_exists(self):
        self.assert_fails("UX017", "/d/f: file exists", "mkdir", "/d/f")
        self.assert_fails("UX017", "/d/f: file exists", "rename", "/g", "/d/f")
        self.assert_fails("UX017", "/d/e: file exists", "rename", "/g", "/d/e")
        self.assert_fails("UX017", "/g: file exists", "rename", "/d", "/g")
        self.assert_fails("UX017", "/: file exists", "rename", "/d", "/")

    def test_not_a_directory(self):
        self.assert_fails("UX020", "/g: not a directory", "put", "/g/x", "x")
        self.assert_fails("UX020", "/g: not a directory", "put", "/g/x/y", "x")
        self.assert_fails("UX020", "/d/f: not a directory", "mkdir", "/d/f/x")
        self.assert_fails("UX020", "/g: not a directory", "rename", "/d", "/g/x")
        self.assert_fails("UX020", "/g: not a directory", "rename", "/g/x", "/y")
        self.assert_fails("UX020", "/g: not a directory", "remove", "/g/x")
        self.assert_error("UX020", "/d/f: not a directory", "select * from fs.ls('/d/f/x')")

    def test_is_a_directory(self):
        self.assert_fails("UX021", "/d/e: is a directory", "put", "/d/e", "x")
        self.assert_fails("UX021", "/: is a directory", "put", "/", "x")

    def test_that_is_no_path(self):
        for path, text in [("relative", "relative: not an absolute path"), ("", "(empty): not an absolute path"),
                           (None, "(empty): not an absolute path"), ("/a/../b", '/a/../b: "." and ".." have no meaning here'),
                           ("/.", '/.: "." and ".." have no meaning here')]:
            self.assert_fails("UX022", text, "put", path, "x")
            for function in ["mkdir", "remove", "find"]:
                self.assert_fails("UX022", text, function, path)
            self.assert_fails("UX022", text, "rename", path, "/x")
            self.assert_fails("UX022", text, "rename", "/d", path)

    def test_name_too_long(self):
        name = "/" + "ß" * 128
        self.assert_fails("UX036", name + ": file name too long, 255 bytes at most", "mkdir", name)
        self.assert_fails("UX036", name + ": file name too long, 255 bytes at most", "rename", "/d", name)

    def test_a_directory_cannot_move_into_itself(self):
        self.assert_fails("UX040", "cannot move /d into itself /d/e/x", "rename", "/d", "/d/e/x")
        self.assert_fails("UX040", "cannot move /d into itself /d/d", "rename", "/d", "/d/d")
        self.assert_fails("UX020", "/g: not a directory", "rename", "/g", "/g/x")

    def test_an_error_changes_nothing(self):
        before = self.tree()
        for function, *arguments in [("mkdir", "/new/d/../f"), ("mkdir", "/g/new"), ("put", "/new/f", "x"),
                                     ("rename", "/d", "/d/e/x"), ("rename", "/g", "/d/f")]:
            with self.assertRaises(Exception):
                self.call(function, *arguments)
        self.assertEqual(self.tree(), before)


class Table(FsTest):
    """What the table refuses, whoever writes to it."""

    def setUp(self):
        super().setUp()
        self.root = self.call("find", "/")
        self.directory = self.call("mkdir", "/d")

    def refused(self, code, statement):
        with self.assertRaises(Exception, msg=statement) as caught:
            self.sql.run(statement)
        self.assertEqual(caught.exception.code, code, statement)

    def test_a_second_root(self):
        self.refused("23505", "insert into fs.nodes (name, kind) values ('', 'directory')")
        self.refused("23514", "insert into fs.nodes (name, kind) values ('x', 'directory')")
        self.refused("23514", "insert into fs.nodes (name, kind) values ('', 'file')")
        self.refused("23505", f"update fs.nodes set parent_id = null, name = '' where id = {self.directory}")

    def test_names_that_are_none(self):
        for name in ["", ".", "..", "a/b", "x" * 256]:
            self.refused("23514", f"insert into fs.nodes (parent_id, name, kind) values ({self.root}, '{name}', 'file')")

    def test_a_name_twice_in_one_directory(self):
        self.refused("23505", f"insert into fs.nodes (parent_id, name, kind) values ({self.root}, 'd', 'file')")

    def test_orphans(self):
        self.refused("23503", "insert into fs.nodes (parent_id, name, kind) values (-1, 'x', 'file')")

    def test_kinds_and_contents(self):
        self.refused("23514", f"insert into fs.nodes (parent_id, name, kind) values ({self.root}, 'x', 'link')")
        self.refused("23514", f"update fs.nodes set contents = 'x' where id = {self.directory}")

    def test_circles_by_an_update_of_ones_own(self):
        below = self.call("mkdir", "/d/e/f")
        self.refused("UX040", f"update fs.nodes set parent_id = {below} where id = {self.directory}")
        self.refused("UX040", f"update fs.nodes set parent_id = {self.directory}, name = 'r' where id = {self.root}")
        self.refused("UX040", f"update fs.nodes set parent_id = id where id = {self.directory}")


class Loader(FsTest):
    def test_a_folder_is_loaded_with_its_tree_and_its_texts(self):
        load = os.path.join(SCHEMA, "fs", "load")
        with tempfile.TemporaryDirectory() as folder:
            files = {"a.txt": b"text", "empty": b"", "tab\tand\nline \\N": b"tab\tline\r\n\\N\n\\.\n\x01", "b.bin": b"\0x", "latin": b"\xe4",
                     "large": b"x" * 101, "d/e/f": "ü".encode()}
            os.makedirs(os.path.join(folder, "d", "e"))
            for name, data in files.items():
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(data)
            with open(os.path.join(os.fsencode(folder), b"bad\xff"), "wb"):
                pass
            os.symlink("/", os.path.join(folder, "link"))
            command = [load, "--database", self.url, "--at", "/some/where's", "--max-text", "100", folder]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            self.assertIn("10 nodes in /some/where's: 2 directories, 8 files, 4 of them with their text", done.stdout)
            self.assertIn("left out 1 names that are not UTF-8", done.stderr)
            loaded = {path[len("/some/where's/"):]: contents for path, contents in self.tree().items()
                      if path.startswith("/some/where's/")}
            self.assertEqual(loaded, {
                "a.txt": "text", "empty": "", "tab\tand\nline \\N": "tab\tline\r\n\\N\n\\.\n\x01", "b.bin": None, "latin": None,
                "large": None, "link": None, "d": None, "d/e": None, "d/e/f": "ü"})

            again = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(again.returncode, 1)
            self.assertIn("nothing was loaded", again.stderr)
            self.assertEqual(len(self.tree()), 12)


if __name__ == "__main__":
    unittest.main()
