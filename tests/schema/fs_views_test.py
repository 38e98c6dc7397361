"""fs.documents and fs.documents_by_id against a naive reading of the table, how they are planned, what they are known to
read, and how fast they are."""
import json
import random
import time
import unittest

from database import DatabaseTest, literal
from views import TAILER, ViewTest, plan_nodes

class FsViews(ViewTest):
    install = ["fs/postgresql/install.sql"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sql.run("select fs.mkdir('/quote''s/back\\slash/per%cent'), fs.put('/root file', null)")
        rng = random.Random(7)
        paths = ["", "/quote's/back\\slash/per%cent"]
        for number in range(300):
            paths.append(f"{rng.choice(paths)}/{rng.choice(['ünï', 'new' + chr(10) + 'line', 'a b', '..x'])}{number}")
        statements = [f"fs.mkdir({literal(path)})" for path in paths[1:]]
        statements += [f"fs.put({literal(rng.choice(paths) + f'/file {n}.txt')}, {literal(f'text {n}')})" for n in range(1500)]
        for at in range(0, len(statements), 200):
            cls.sql.run("select " + ", ".join(statements[at:at + 200]))
        cls.sql.run("vacuum analyze fs.nodes")

    def nodes(self):
        return {row["id"]: row for row in self.sql.rows("select * from fs.nodes")}

    def test_documents_are_what_a_naive_reading_gives(self):
        nodes = self.nodes()

        def path(node):
            parent = nodes[node["parent_id"]]
            return "" if parent["parent_id"] is None else path(parent) + "/" + parent["name"]

        expected = [{"_id": n["id"], "name": n["name"], "path": path(n) or "/", "kind": n["kind"], "contents": n["contents"]}
                    for _, n in sorted(nodes.items()) if n["parent_id"] is not None]
        self.assertGreater(len(expected), 1700)
        self.assertEqual(self.sql.rows("select * from fs.documents order by _id"), expected)

    def test_documents_by_id_are_what_a_naive_reading_gives(self):
        nodes = self.nodes()

        def ancestors(node):
            return [] if node["parent_id"] is None else ancestors(nodes[node["parent_id"]]) + [node["parent_id"]]

        expected = [{"_id": n["id"], "name": n["name"], "parent_id": n["parent_id"], "ancestors": ancestors(n),
                     "kind": n["kind"], "contents": n["contents"]}
                    for _, n in sorted(nodes.items()) if n["parent_id"] is not None]
        self.assertEqual(self.sql.rows("select * from fs.documents_by_id order by _id"), expected)

    def test_a_renamed_directory_changes_one_document_by_id(self):
        before = {row["_id"]: row for row in self.sql.rows("select * from fs.documents_by_id")}
        self.sql.run("begin")
        moved = self.sql.value("select fs.rename('/quote''s', '/quoted')")
        after = self.sql.rows("select * from fs.documents_by_id")
        self.sql.run("rollback")
        self.assertEqual([row["_id"] for row in after if row != before[row["_id"]]], [moved])

    def test_pages_and_chunks_are_looked_up(self):
        for view in ["fs.documents", "fs.documents_by_id"]:
            middle = self.sql.value("select percentile_disc(0.5) within group (order by id) from fs.nodes")
            self.assert_looks_up(f"select * from {view} where _id > {middle} order by _id limit 100", ["nodes_pkey"], 100)
            depth = self.sql.value(f"select cardinality(ancestors) from fs.documents_by_id where _id = {middle}")
            self.assert_looks_up(f"select * from {view} where _id = any('{{{middle}}}')", ["nodes_pkey"], depth + 1)

    def test_chunks_remember_the_paths_of_their_directories(self):
        if int(self.sql.run("show server_version_num")) < 140000:
            return  # its plans remember nothing; documents.sql says what that costs
        ids = self.sql.run("select array_agg(id) from fs.nodes where kind = 'file'")
        self.sql.run(TAILER)
        for view in ["fs.documents", "fs.documents_by_id"]:
            plan = json.loads(self.sql.run(f"explain (format json) select * from {view} where _id = any('{ids}')"))[0]["Plan"]
            self.assertIn("Memoize", {node["Node Type"] for node in plan_nodes(plan)})

    def test_what_the_views_read_is_known_to_the_column(self):
        self.assert_reads_exactly(
            "fs.documents", ["fs.nodes.contents", "fs.nodes.id", "fs.nodes.kind", "fs.nodes.name", "fs.nodes.parent_id"])
        self.assert_reads_exactly(
            "fs.documents_by_id", ["fs.nodes.contents", "fs.nodes.id", "fs.nodes.kind", "fs.nodes.name", "fs.nodes.parent_id"])


class Speed(DatabaseTest):
    """Prints what rendering costs on this machine; it asserts only that everything was rendered."""

    install = ["fs/postgresql/install.sql"]
    files = 60_000
    chunk = 5_000

    def test_rendering(self):
        self.sql.run(f"""
            create temporary table directory as
              select n, nextval(pg_get_serial_sequence('fs.nodes', 'id')) as id from generate_series(0, 1554) n;
            insert into fs.nodes (id, parent_id, name, kind)
              select d.id, coalesce(p.id, fs.find('/')), 'directory-' || d.n, 'directory'
              from directory d left join directory p on d.n > 0 and p.n = (d.n - 1) / 6;
            insert into fs.nodes (parent_id, name, kind, contents)
              select d.id, 'file-' || f, 'file', repeat('some text ', 20)
              from generate_series(1, {self.files}) f join directory d on d.n = f % 1555;
            analyze fs.nodes""")
        ids = json.loads(self.sql.run("select json_agg(id order by parent_id, id) from fs.nodes where parent_id is not null"))
        self.sql.run(TAILER)
        print()
        for view in ["fs.documents", "fs.documents_by_id"]:
            rendered = 0
            seconds = 0
            for at in range(0, len(ids), self.chunk):
                chunk = ids[at:at + self.chunk]
                started = time.monotonic()
                rendered += self.sql.value(
                    f"select count(*) filter (where length(document) > 0) from "
                    f"(select row_to_json(d)::text as document from {view} d where _id = any('{{{','.join(map(str, chunk))}}}')) x")
                seconds += time.monotonic() - started
            print(f"  {view}: {rendered / seconds:,.0f} documents/s in chunks of {self.chunk:,}")
            self.assertEqual(rendered, len(ids))


if __name__ == "__main__":
    unittest.main()
