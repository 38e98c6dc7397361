"""Includes go one way: which folder may include which, and which library belongs to which folder."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "replicator"

# What the files of a folder may include, besides their own folder and what lies at the top of replicator/. A folder stands for
# what is below it, too, but "source/" and "locks/" mean the contracts alone: the files directly in that folder (and source/outbox).
# The longest name that fits a file decides. A folder that no name fits has no room yet: it gets one here.
MAY_INCLUDE = {
    "": [],
    "log": [],
    "process": [],
    "config": ["log"],
    "source/": ["config", "source/outbox", "source/view"],
    "source/view": [],
    "source/outbox": [],
    "source/define": ["source/", "source/outbox", "config"],
    "source/open_source": [
        "source/", "config", "source/postgres/make_postgres", "source/sqlite/make_sqlite"
    ],
    "source/postgres/make_postgres": [
        "source/", "config", "source/postgres/define", "source/postgres/read", "source/postgres/view_reader",
        "source/postgres/watch"
    ],
    "source/postgres/session": ["source/", "config"],
    "source/postgres/catalog": ["source/", "source/view", "config", "source/postgres/session"],
    "source/postgres/define": [
        "source/", "source/define", "source/outbox", "source/view", "config", "source/postgres/session",
        "source/postgres/catalog"
    ],
    "source/postgres/read": [
        "source/", "source/outbox", "config", "source/postgres/session", "source/postgres/catalog", "source/postgres/watch"
    ],
    "source/postgres/view_reader": [
        "source/", "config", "source/postgres/session", "source/postgres/define", "source/postgres/read"
    ],
    "source/postgres/watch": [
        "source/", "source/outbox", "config", "source/postgres/session", "source/postgres/catalog", "source/postgres/read"
    ],
    "source/sqlite": ["source/", "source/define", "source/outbox", "source/view", "config"],
    "draft": ["source/", "source/view"],
    "elasticsearch": ["config", "log"],
    "locks/": ["config"],
    "locks/open_locks": ["config", "locks/", "locks/backends", "elasticsearch"],
    "locks/backends/elasticsearch": ["locks/", "config", "elasticsearch"],
    "locks/backends/postgres": ["locks/", "config", "source/postgres/session"],
    "tree": ["locks/", "locks/backends/elasticsearch", "elasticsearch", "config"],
    "pipeline": ["source/", "source/outbox", "elasticsearch", "config", "log"],
    "service": ["pipeline", "process", "source/", "source/outbox", "elasticsearch", "config", "log"],
    "cli": [
        "service", "process", "pipeline", "draft", "tree", "locks/", "source/", "source/outbox", "elasticsearch", "config", "log"
    ],
}

# A library's headers are included in one family of files.
LIBRARIES = {
    "pqxx/": ["source/postgres", "locks/backends/postgres"],
    "sqlite3.h": ["source/sqlite"],
    "curl/": ["elasticsearch/transport"],
    "openssl/": ["elasticsearch/transport"],
    "zlib.h": ["elasticsearch/transport"],
    "simdjson.h": ["elasticsearch", "pipeline/repair"],
    "CLI/": ["cli"],
    "httplib.h": ["service"],
    "prometheus/": ["service"],
    "toml++/": ["config"],
    "systemd/": ["service", "log"],
}

INCLUDE = re.compile(r'^#include (?:"replicator/([^"]+)"|<([^>]+)>)', re.MULTILINE)


def is_in(path: str, folder: str) -> bool:
    if folder.endswith("/"):
        return path.startswith(folder) and "/" not in path.removeprefix(folder)
    if folder == "":
        return "/" not in path
    return path.startswith(folder + "/") or path.rpartition(".")[0] == folder


def room_of(path: str) -> str | None:
    return max((room for room in MAY_INCLUDE if is_in(path, room)), key=len, default=None)


def faults(path: str, text: str) -> list[str]:
    """What `path`, relative to replicator/, includes against the rules."""
    found = []
    room = room_of(path)
    if room is None:
        return [f"{path} is in no room; give {path.rpartition('/')[0]} a line in MAY_INCLUDE"]
    for own, library in INCLUDE.findall(text):
        if own:
            allowed = [room, "", *MAY_INCLUDE[room]]
            if not any(is_in(own, folder) for folder in allowed):
                found.append(f"{path} includes {own}; {room or 'the top'} may include {', '.join(MAY_INCLUDE[room]) or 'nothing'}")
        for name, homes in LIBRARIES.items():
            if library.startswith(name) and not any(is_in(path, home) for home in homes):
                found.append(f"{path} includes <{library}>, which belongs to {', '.join(homes)}")
    return found


class Includes(unittest.TestCase):
    def test_every_folder_includes_what_it_may(self):
        found = []
        for file in sorted(PROGRAM.rglob("*.h")) + sorted(PROGRAM.rglob("*.cc")):
            path = file.relative_to(PROGRAM).as_posix()
            if path != "main.cc":
                found += faults(path, file.read_text())
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_a_wrong_include_is_found(self):
        for path, include in {
            "elasticsearch/bulk/bulk_writer.cc": '#include "replicator/source/source.h"',
            "source/change_log.h": '#include "replicator/source/postgres/session/session.h"',
            "pipeline/tail.cc": '#include "replicator/source/postgres/read/source.h"',
            "source/change_log.cc": '#include "replicator/source/postgres/make_postgres.h"',
            "source/open_source.cc": '#include "replicator/source/postgres/read/source.h"',
            "source/sqlite/source.cc": '#include "replicator/source/postgres/session/session.h"',
            "source/postgres/read/source.cc": '#include "replicator/source/sqlite/source.h"',
            "locks/lock_name.cc": '#include "replicator/elasticsearch/admin/client.h"',
            "pipeline/checkpoint.cc": '#include "replicator/cli/verb.h"',
            "error.h": '#include "replicator/config/config.h"',
            "service/metrics.h": "#include <pqxx/pqxx>",
        }.items():
            self.assertEqual(len(faults(path, include)), 1, path)

    def test_a_file_without_a_room_is_a_fault(self):
        for path in "source/mysql/source.cc", "locks/backends/sqlite/locks.h", "source/postgres/new/x.h", "new/x.cc":
            self.assertEqual(
                faults(path, ""), [f"{path} is in no room; give {path.rpartition('/')[0]} a line in MAY_INCLUDE"]
            )

    def test_a_second_source_has_a_room(self):
        text = '#include "replicator/source/source.h"\n#include "replicator/source/outbox/job.h"\n#include <sqlite3.h>'
        for path in "source/sqlite/source.cc", "source/sqlite/read/changes.cc":
            self.assertEqual(faults(path, text), [], path)

    def test_every_folder_has_a_rule(self):
        files = [file.relative_to(PROGRAM) for kind in ("*.h", "*.cc") for file in PROGRAM.rglob(kind)]
        self.assertEqual({file.parent.as_posix() for file in files if room_of(file.as_posix()) is None}, set())

    def test_every_rule_is_about_a_room(self):
        rooms = set(MAY_INCLUDE).union(*MAY_INCLUDE.values()) - {"", "source/sqlite"}
        gone = [room for room in sorted(rooms) if not (PROGRAM / room).is_dir() and not (PROGRAM / f"{room}.h").is_file()]
        self.assertEqual(gone, [])


if __name__ == "__main__":
    unittest.main()
