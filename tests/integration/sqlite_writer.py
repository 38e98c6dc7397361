"""An application that writes into the blog of schema/blog/sqlite at random until it is ended.

  python3 sqlite_writer.py FILE SEED

Prints the number of transactions that it has committed, a line for each.
"""
import random
import sqlite3
import sys


def change(database, choose):
    post, user = choose.randint(1, 300), choose.randint(1, 30)
    text = choose.choice(["a", "Ω", 'quote " and \\', "line\nfeed", ""]) + str(choose.random())
    statements = [
        ("insert or replace into blogposts (id, title, body, user_id) values (?, ?, ?, (select id from users where id = ?))",
         (post, text, text, user)),
        ("update blogposts set title = ? where id = ?", (text, post)),
        ("update blogposts set user_id = (select id from users where id = ?) where id = ?", (user, post)),
        ("delete from blogposts where id = ?", (post,)),
        ("insert into users (id, name) values (?, ?) on conflict (id) do update set name = excluded.name", (user, text + "n")),
        ("insert or replace into users (id, name, email) values (?, ?, ?)", (user, text + "r", f"{choose.randint(1, 30)}@example.org")),
        ("update or replace users set email = ? where id = ?", (f"{choose.randint(1, 30)}@example.org", user)),
        ("update or replace blogposts set id = ? where id = ?", (choose.randint(1, 300), post)),
        ("delete from users where id = ?", (user,)),
    ]
    database.execute(*choose.choice(statements))


def main(file, seed):
    choose = random.Random(int(seed))
    database = sqlite3.connect(file, isolation_level=None, timeout=60)
    database.execute("pragma foreign_keys = on")
    committed = 0
    while True:
        database.execute("begin immediate")
        for _ in range(choose.choice([1, 1, 1, 5])):
            change(database, choose)
        if choose.random() < 0.1:
            database.execute("rollback")
            continue
        database.execute("commit")
        committed += 1
        print(committed, flush=True)


main(*sys.argv[1:])
