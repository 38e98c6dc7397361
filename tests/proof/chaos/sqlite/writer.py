"""An application that changes the tables of chaos.py at random until it is killed.

  python3 writer.py FILE SEED ROLE STOP SYNCHRONOUS

Each transaction takes the next revision and writes it into what it changes: how many were committed is what the table revision
says. ROLE is "rows", or "schema" for one that also migrates the table. It ends with 0 as soon as the file STOP is there, and with
another code when a statement fails, which none may.
"""
import os
import random
import sqlite3
import sys
import time

ITEMS = 300
OWNERS = 20

TABLE = """create table {} (id integer primary key, name text not null, slug text unique, n integer not null,
  owner_id integer not null references owners{})"""


def revision(database):
    database.execute("update revision set value = value + 1")
    return database.execute("select value from revision").fetchone()[0]


def change(database, choose, n):
    item, owner = choose.randint(1, ITEMS), choose.randint(1, OWNERS)
    text = choose.choice(["a", "Ω", 'quote " and \\', "line\nfeed", ""]) + str(n)
    slug = f"slug {choose.randint(1, 2 * ITEMS)}"
    row = (item, text, slug, n, owner)
    names = "(id, name, slug, n, owner_id)"
    database.execute(*choose.choice([
        (f"insert or replace into items {names} values (?, ?, ?, ?, ?)", row),
        (f"insert into items {names} values (?, ?, ?, ?, ?) on conflict (id) do update set n = excluded.n", row[:2] + (None,) + row[3:]),
        ("update items set name = ?, n = ? where id = ?", (text, n, item)),
        ("update items set n = ? where id between ? and ?", (n, item, item + 10)),
        ("update or replace items set slug = ?, n = ? where id = ?", (slug, n, item)),
        ("update or replace items set id = ?, n = ? where id = ?", (choose.randint(1, ITEMS), n, item)),
        ("delete from items where id = ?", (item,)),
        ("update owners set name = ?, n = ? where id = ?", (text, n, owner)),
    ]))


def migrate(database, choose):
    """Without the connection's foreign keys, which would act on the rename."""
    what = choose.randint(1, 4)
    if what == 1:  # no trigger survives this
        columns = [row[1] for row in database.execute("pragma table_info (items)")]
        more = "".join(f", {name} text" for name in columns if name.startswith("extra"))
        database.execute(TABLE.format("fresh", more))
        database.execute(f"insert into fresh ({', '.join(columns)}) select {', '.join(columns)} from items")
        database.execute("drop table items")
        database.execute("alter table fresh rename to items")
    elif what == 2:
        count = len(database.execute("pragma table_info (items)").fetchall())
        if count < 12:
            database.execute(f"alter table items add column extra{count} text")
    elif what == 3:
        database.execute("create unique index if not exists items_once on items (slug, owner_id)")
    else:
        database.execute("drop index if exists items_once")


def main(file, seed, role, stop, synchronous):
    choose = random.Random(int(seed))
    database = sqlite3.connect(file, isolation_level=None, timeout=120)
    database.execute(f"pragma synchronous = {synchronous}")
    database.execute("pragma legacy_alter_table = on")  # else a table that a view reads cannot take another's name
    while not os.path.exists(stop):
        database.execute(choose.choice(["begin immediate", "begin immediate", "begin"]))
        n = revision(database)
        if role == "schema" and choose.random() < 0.01:
            migrate(database, choose)
        else:
            for _ in range(choose.choice([1, 1, 1, 1, 1, 5])):
                change(database, choose, n)
        database.execute("rollback" if choose.random() < 0.05 else "commit")
        if choose.random() < 0.02:
            time.sleep(choose.random() / 50)


if __name__ == "__main__":
    main(*sys.argv[1:])
