"""Shows how documents follow rows of a SQLite file: changes the examples fs and blog and asks Elasticsearch until it answers
with the change.

  quickstart_sqlite_demo.py FS_FILE BLOG_FILE ELASTICSEARCH
"""
import sqlite3
import sys
import time

from quickstart_demo import all_of, hits, search, stamped, until

# The directory with the most below it, but for those that have more than half of all.
LARGEST_DIRECTORY = """
with recursive below (top, id, kind) as (
  select id, id, kind from nodes where kind = 'directory' and parent_id is not null
  union all
  select b.top, n.id, n.kind from below b join nodes n on n.parent_id = b.id
)
select top, count(*) - 1 as entries from below group by top
having count(*) < (select count(*) from nodes) / 2 order by count(*) desc limit 1
"""


def opened(file):
    database = sqlite3.connect(f"file:{file}?mode=rw", uri=True, isolation_level=None, timeout=30)
    database.execute("pragma foreign_keys = on")
    return database


def path_of(database, node):
    (parent, name), = database.execute("select path, name from documents where _id = ?", (node,))
    return f"{parent.rstrip('/')}/{name}"


def changed(database, statement, *parameters):
    """Runs a statement in a transaction of its own; returns when it was committed."""
    begun = time.monotonic()
    database.execute(statement, parameters)
    committed = time.monotonic()
    print(f"    committed after {(committed - begun) * 1000:.0f} ms; searching until Elasticsearch shows it:")
    return committed


def show_fs(file, elasticsearch):
    database = opened(file)
    found = database.execute(LARGEST_DIRECTORY).fetchone()
    if found is None:
        sys.exit("quickstart: no folder that was loaded has a directory with less than half of all files; name others, and delete the "
                 "quickstart's own folder first")
    directory, below = found
    (name,), = database.execute("select name from nodes where id = ?", (directory,))
    path = path_of(database, directory)
    new_name = stamped(name)
    new_path = path.removesuffix(name) + new_name
    print(f"\nfs: renaming the directory {path}, with {below} files and directories below it, to {new_name}")
    committed = changed(database, "update nodes set name = ? where id = ?", new_name, directory)
    for words, where, expected in ((f"all {below} are below {new_path}", new_path, below),
                                   (f"nothing is left below {path}", path, 0)):
        question = {"size": 0, **all_of({"term": {"path.tree": where}})}
        _, seconds = until(committed, lambda: search(elasticsearch, "fs", question), lambda reply: hits(reply) == expected)
        print(f"    {seconds:6.2f} s  term on path.tree: {words}")


def show_blog(file, elasticsearch):
    database = opened(file)
    (user, name, posts), = database.execute(
        "select u.id, u.name, count(*) from users u join blogposts p on p.user_id = u.id group by u.id "
        "order by count(*) desc limit 1")
    new_name = "John Smith" if name != "John Smith" else "John Smithson"
    print(f"\nblog: renaming the user {name}, who has {posts} posts, to {new_name}")
    committed = changed(database, "update users set name = ? where id = ?", new_name, user)
    theirs = {"size": 0, **all_of({"term": {"user.name.raw": new_name}})}
    _, seconds = until(committed, lambda: search(elasticsearch, "blogposts", theirs), lambda reply: hits(reply) >= posts)
    print(f"    {seconds:6.2f} s  all {posts} posts carry the new name")


def main():
    fs, blog, elasticsearch = sys.argv[1:]
    show_fs(fs, elasticsearch)
    show_blog(blog, elasticsearch)


if __name__ == "__main__":
    main()
