"""Shows how documents follow rows: changes the examples fs and blog and asks Elasticsearch until it answers with the change.

  quickstart_demo.py FS_DATABASE BLOG_DATABASE ELASTICSEARCH
"""
import json
import subprocess
import sys
import time
import urllib.request

PATIENCE_SECONDS = 120


def rows(database, statement, **variables):
    """What a statement returns, as lists of texts; :'name' in it stands for a variable."""
    options = [option for name, value in variables.items() for option in ("-v", f"{name}={value}")]
    result = subprocess.run(
        ["psql", "-XAtq", "-F", "\x1f", "-R", "\x1e", "-v", "ON_ERROR_STOP=1", *options, "-f", "-", database],
        input=statement, stdout=subprocess.PIPE, text=True, check=True)
    text = result.stdout.removesuffix("\n").removesuffix("\x1e")
    return [line.split("\x1f") for line in text.split("\x1e")] if text else []


def search(elasticsearch, index, body):
    request = urllib.request.Request(
        f"{elasticsearch}/{index}/_search", json.dumps({"track_total_hits": True, **body}).encode(),
        {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.load(reply)


def hits(reply):
    return reply["hits"]["total"]["value"]


def until(since, question, holds):
    """Asks until the answer holds; returns it with the seconds since then."""
    while True:
        answer = question()
        seconds = time.monotonic() - since
        if holds(answer):
            return answer, seconds
        if seconds > PATIENCE_SECONDS:
            sys.exit(f"quickstart: after {PATIENCE_SECONDS} s a search still answers {json.dumps(answer)[:400]}")
        time.sleep(0.01)


def all_of(*filters):
    return {"query": {"bool": {"filter": list(filters)}}}


# The directory with the most below it, but for those that have more than half of all.
LARGEST_DIRECTORY = """
with recursive below (top, id, kind, text) as (
  select id, id, kind, false from fs.nodes where kind = 'directory' and parent_id is not null
  union all
  select b.top, n.id, n.kind, n.contents ~ '[[:alpha:]]{6}' from below b join fs.nodes n on n.parent_id = b.id
)
select top, fs.path(top), count(*) - 1
from below group by top
having count(*) < (select count(*) from fs.nodes) / 2 and bool_or(text)
order by count(*) desc limit 1;
"""

A_TEXT_FILE_BELOW = """
with recursive below (id, depth) as (
  select :directory::bigint, 0
  union all
  select n.id, b.depth + 1 from below b join fs.nodes n on n.parent_id = b.id
)
select fs.path(n.id), n.id, substring(n.contents from '[[:alpha:]]{6,20}')
from below b join fs.nodes n on n.id = b.id
where n.kind = 'file' and n.contents ~ '[[:alpha:]]{6}'
order by b.depth desc, n.id limit 1;
"""


def parent_and_name(path):
    parent, _, name = path.rpartition("/")
    return parent or "/", name


def stamped(name):
    """The name with the time of day in place of an earlier run's."""
    return f"{name.split('~')[0]}~{time.strftime('%H%M%S')}"


def show_fs(database, elasticsearch):
    found = rows(database, LARGEST_DIRECTORY)
    if not found:
        sys.exit("quickstart: no folder that was loaded has a directory with text files and less than half of all files; name others, and "
                 "delete the quickstart's own folder first")
    (directory_id, directory, below), = found
    (file, file_id, word), = rows(database, A_TEXT_FILE_BELOW, directory=directory_id)
    parent, name = parent_and_name(directory)
    new_directory = f"{parent.rstrip('/')}/{stamped(name)}"
    file_parent, file_name = parent_and_name(file)
    new_file_name = stamped(file_name)
    new_file_parent = new_directory + file_parent[len(directory):]

    print(f"\nfs: renaming the directory {directory}, with {below} files and directories below it,\n"
          f"    to {new_directory}\n"
          f"    while another connection renames one of these files, {file_name}, to {new_file_name}")
    begun = time.monotonic()
    rename = "begin; select fs.rename(:'from', :'to');"
    directory_rename = subprocess.Popen(
        ["psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-v", f"from={directory}", "-v", f"to={new_directory}", "-f", "-", database],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    directory_rename.stdin.write(rename + "\n")
    directory_rename.stdin.flush()
    # The directory's transaction is open, or about to be: the file has its own and does not wait for it.
    rows(database, "update fs.nodes set name = :'name' where id = :'id';", name=new_file_name, id=file_id)
    directory_rename.communicate("commit;\n")
    if directory_rename.returncode:
        sys.exit("quickstart: renaming the directory failed, see above")
    committed = time.monotonic()
    print(f"    both committed after {(committed - begun) * 1000:.0f} ms; searching until Elasticsearch shows it:")

    in_directory = all_of({"term": {"path": new_file_parent}}, {"term": {"name": new_file_name}})
    _, seconds = until(committed, lambda: search(elasticsearch, "fs", in_directory), lambda reply: hits(reply) == 1)
    print(f"    {seconds:6.2f} s  term on path: {new_file_name} is in {new_file_parent}")

    anywhere_below = {"size": 0, **all_of({"term": {"path.tree": new_directory}})}
    _, seconds = until(committed, lambda: search(elasticsearch, "fs", anywhere_below), lambda reply: hits(reply) == int(below))
    print(f"    {seconds:6.2f} s  term on path.tree: all {below} are below {new_directory}")

    text = {"query": {"bool": {"must": {"match": {"contents": word}}, "filter": {"term": {"path.tree": new_directory}}}}}
    reply, seconds = until(committed, lambda: search(elasticsearch, "fs", text), lambda reply: hits(reply) > 0)
    print(f"    {seconds:6.2f} s  full text: \"{word}\" is in {hits(reply)} files there, first {reply['hits']['hits'][0]['_source']['name']}")

    old = {"size": 0, **all_of({"term": {"path.tree": directory}})}
    _, seconds = until(committed, lambda: search(elasticsearch, "fs", old), lambda reply: hits(reply) == 0)
    print(f"    {seconds:6.2f} s  nothing is left below {directory}")


def show_blog(database, elasticsearch):
    (user, name, posts, word), = rows(database, """
select u.id, u.name, count(*), min(substring(p.title from '[[:alpha:]]{4,}'))
from blog.users u join blog.blogposts p on p.user_id = u.id group by u.id order by count(*) desc limit 1;""")
    new_name = "John Smith" if name != "John Smith" else "John Smithson"
    print(f"\nblog: renaming the user {name}, who has {posts} posts, to {new_name}")
    begun = time.monotonic()
    rows(database, "update blog.users set name = :'name' where id = :'id';", name=new_name, id=user)
    committed = time.monotonic()
    print(f"    committed after {(committed - begun) * 1000:.0f} ms; searching until Elasticsearch shows it:")
    theirs = {"size": 0, **all_of({"term": {"user.name.raw": new_name}})}
    _, seconds = until(committed, lambda: search(elasticsearch, "blogposts", theirs), lambda reply: hits(reply) >= int(posts))
    print(f"    {seconds:6.2f} s  all {posts} posts carry the new name")

    collapsed = {
        "size": 0, "query": {"match": {"title": word}},
        "aggs": {"users": {
            "terms": {"field": "user.name.raw", "size": 3, "order": {"top_score": "desc"}},
            "aggs": {"top_score": {"max": {"script": {"source": "_score"}}},
                     "blogposts": {"top_hits": {"_source": ["title"], "size": 2}}}}}}
    collapsed["query"] = {"bool": {"must": {"match": {"title": word}}, "should": {"match": {"user.name": new_name}}}}
    reply, seconds = until(
        committed, lambda: search(elasticsearch, "blogposts", collapsed),
        lambda reply: new_name in [bucket["key"] for bucket in reply["aggregations"]["users"]["buckets"]])
    print(f"    {seconds:6.2f} s  posts about \"{word}\", the best two of each user, users ordered by their best score:")
    for bucket in reply["aggregations"]["users"]["buckets"]:
        titles = "; ".join(hit["_source"]["title"] for hit in bucket["blogposts"]["hits"]["hits"])
        print(f"              {bucket['key']} ({bucket['doc_count']}): {titles}")


def main():
    fs, blog, elasticsearch = sys.argv[1:]
    show_fs(fs, elasticsearch)
    show_blog(blog, elasticsearch)


if __name__ == "__main__":
    main()
