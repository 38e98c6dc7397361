"""The shop: the view is that of the pages, and SQLite's shop gives the documents of PostgreSQL's."""
import json
import pathlib
import re
import sqlite3
import unittest

from database import ROOT, SCHEMA, DatabaseTest


class Shop(DatabaseTest):
    install = ["shop/postgresql/install.sql", "shop/postgresql/documents.sql"]

    def test_the_view_is_that_of_the_pages(self):
        view = pathlib.Path(SCHEMA, "shop/postgresql/documents.sql").read_text().partition("\n")[2]
        for page in ["README.md", "docs/tutorial.md"]:
            shown = re.search(r"^```sql\n(.*?)^```", pathlib.Path(ROOT, page).read_text(), re.MULTILINE | re.DOTALL)[1]
            self.assertEqual(shown.replace("create view", "create or replace view"), view, page)

    def test_one_customer_has_half_of_the_orders(self):
        self.assertEqual(self.sql.rows("select count(*), count(*) filter (where customer_id = 1) as his from shop.orders"),
                         [{"count": 20000, "his": 10000}])

    def test_both_databases_have_the_same_shop(self):
        database = sqlite3.connect(":memory:")
        self.addCleanup(database.close)
        database.row_factory = sqlite3.Row
        for file in ["install", "documents", "documents"]:
            database.executescript(pathlib.Path(SCHEMA, f"shop/sqlite/{file}.sql").read_text())
        documents = [{**row, "customer": json.loads(row["customer"]), "lines": json.loads(row["lines"])}
                     for row in database.execute("select * from search_orders order by _id")]
        self.assertEqual(documents, self.sql.rows("select * from search.orders order by _id"))
        for table in ["customers", "products"]:
            rows = [dict(row) for row in database.execute(f"select * from {table} order by id")]
            self.assertEqual(rows, self.sql.rows(f"select * from shop.{table} order by id"))


if __name__ == "__main__":
    unittest.main()
