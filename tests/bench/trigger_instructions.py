#!/usr/bin/env python3
"""How many instructions lockstep's triggers add to a writer's statements, beside the least that is possible.

A PostgreSQL of one process runs the statements under valgrind's callgrind, which counts. So the figures depend on nothing else that
runs on the machine, and are the same to a hundredth from run to run. The database is the example blog with lockstep's schema and
the code that `apply` puts beside it, as tests/unit/source/postgres/define/golden/blog.sql has it.

Example: tests/bench/trigger_instructions.py
         tests/bench/trigger_instructions.py --repetitions 5 --at-most 1.9
"""

import argparse
import glob
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/unit/source/postgres/define/golden/blog.sql"
ROWS = 1000
SUMMARY = re.compile(r"^(?:summary|totals): (\d+)", re.MULTILINE)

# A table without triggers and two floors beside the tracked one. A deleted user would change posts.
TABLES = """
alter table blog.blogposts drop constraint blogposts_user_id_fkey;
create table public.untracked (like blog.users including all);
create table public.empty (like blog.users including all);
create table public.bare (like blog.users including all);
create function public.empty() returns trigger language plpgsql as 'begin return null; end';
create function public.bare() returns trigger language plpgsql as
  'begin insert into lockstep.outbox (capture, keys) values (1, array[''1'']); return null; end';
"""
FLOOR = """
create trigger t_insert after insert on public.{0} referencing new table as new_rows for each statement execute function public.{0}();
create trigger t_update after update on public.{0} referencing old table as old_rows new table as new_rows
  for each statement execute function public.{0}();
create trigger t_delete after delete on public.{0} referencing old table as old_rows for each statement execute function public.{0}();
"""
FILL = "insert into {0} (id, name, email) overriding system value select i, 'name', 'e' || i from generate_series(1, {1}) as i;"
PLACES = {"without": "public.untracked", "empty": "public.empty", "bare insert": "public.bare", "lockstep": "blog.users"}

# Each time with another id; none of them calls a function in SQL, which would be counted as a statement.
STATEMENTS = {
    "update of a column that a document shows": "update {table} set name = 'name {id}' where id = {id}",
    "update of a column that no document shows": "update {table} set email = 'email {id}' where id = {id}",
    "update that touches no row": "update {table} set name = 'name {id}' where id = -{id}",
    "insert": "insert into {table} (id, name, email) overriding system value values (10{id}, 'name', '@{id}')",
    "delete": "delete from {table} where id = 500 + {id}",
}


def make_database(url):
    """The example blog as `apply` leaves it, and the floors."""
    def psql(*arguments, text=None):
        subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", *arguments, url], input=text, check=True, text=True,
                       stdout=subprocess.DEVNULL)

    for file in ("tables.sql", "documents.sql"):
        psql("-f", str(ROOT / "schema/blog/postgresql" / file))
    schema = ["create schema lockstep; set search_path = lockstep, pg_temp; create table lockstep.migration ();"]
    for file in sorted((ROOT / "migrations/postgresql").glob("*.sql")):
        schema.append("begin;" + file.read_text().replace("{schema}", "lockstep") + ";commit;")
    psql(text="\n".join(schema))
    psql("-f", str(GOLDEN))
    tables = [TABLES, *(FLOOR.format(floor) for floor in ("empty", "bare"))]
    psql(text="\n".join(tables + [FILL.format(table, ROWS) for table in PLACES.values()]))
    psql("-c", "vacuum analyze", "-c", "checkpoint")


def programs():
    """The folder of PostgreSQL's programs."""
    if named := os.environ.get("LOCKSTEP_POSTGRESQL_BIN"):
        return pathlib.Path(named)
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if not found:
        sys.exit("there is no PostgreSQL: run scripts/install")
    return found[-1]


def count(data, statements, folder):
    """The instructions of each statement, in a server of one process over the folder `data`."""
    owner = data.stat()
    as_owner = []
    if os.geteuid() == 0:
        as_owner = ["setpriv", "--reuid", str(owner.st_uid), "--regid", str(owner.st_gid), "--clear-groups"]
        os.chown(folder, owner.st_uid, owner.st_gid)
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/count", "--dump-before=pg_parse_query"]
    server = [str(programs() / "postgres"), "--single", "-D", str(data), "-c", "fsync=off", "-c", "jit=off", "postgres"]
    ran = subprocess.run(as_owner + valgrind + server, input="\n".join(statements) + "\n", text=True, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE)
    if ran.returncode or "ERROR:" in ran.stderr:
        sys.exit(f"a statement failed: {ran.stderr}")
    dumps = sorted(glob.glob(f"{folder}/count.*"), key=lambda name: int(name.rpartition(".")[2]))
    counts = [int(SUMMARY.search(pathlib.Path(name).read_text()).group(1)) for name in dumps]
    # Each dump is what ran before the beginning of a statement; the end of the last one goes into a file without a number.
    if len(counts) != len(statements):
        sys.exit(f"{len(counts)} counts of {len(statements)} statements")
    return counts[1:]


def measure(data, repetitions, folder):
    """The median for each statement and table, as a dictionary."""
    warm = 12  # the first ones fill caches, write whole pages into the WAL, and plan what later ones find planned
    names, statements = [], []
    for what, statement in STATEMENTS.items():
        for place, table in PLACES.items():
            for i in range(warm + repetitions):
                names.append((what, place) if i >= warm else None)
                statements.append(statement.format(table=table, id=100 + i))
    counts = count(data, [*statements, "select 1"], folder)
    found = {}
    for name, instructions in zip(names, counts):
        if name:
            found.setdefault(name, []).append(instructions)
    return {name: statistics.median(values) for name, values in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=30, help="of each statement (%(default)s)")
    parser.add_argument("--at-most", type=float, metavar="RATIO",
                        help="fail if an update of a column that a document shows adds more than so many times a bare insert")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        server = [str(ROOT / "scripts/postgresql")]
        cluster = f"{work}/cluster"
        started = subprocess.run([*server, "start", "--data", cluster], check=True, text=True, stdout=subprocess.PIPE)
        try:
            make_database(started.stdout.strip())
        finally:
            subprocess.run([*server, "stop", "--data", cluster], check=True)
        folder = pathlib.Path(work) / "counts"
        folder.mkdir()
        median = measure(pathlib.Path(cluster) / "data", options.repetitions, folder)
    print("| instructions | " + " | ".join(["without", *(f"{place} adds" for place in list(PLACES)[1:])]) + " |")
    print("|---|" + "---|" * len(PLACES))
    for what in STATEMENTS:
        without = median[what, "without"]
        added = [f"{median[what, place] - without:,.0f}" for place in list(PLACES)[1:]]
        print(f"| {what} | {without:,.0f} | " + " | ".join(added) + " |")
    shown = next(iter(STATEMENTS))
    ratio = (median[shown, "lockstep"] - median[shown, "without"]) / (median[shown, "bare insert"] - median[shown, "without"])
    print(f"\n{shown}: lockstep's trigger adds {ratio:.2f} times what a bare insert adds")
    if options.at_most and ratio > options.at_most:
        sys.exit(f"that is more than {options.at_most}")


if __name__ == "__main__":
    main()
