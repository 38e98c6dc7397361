"""Threads and what they share: every mutex is one that clang checks, guards something, and is in the drawing of the map."""

import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "replicator"

# Those of the standard library have no annotations (replicator/mutex.h). spdlog wants a type for its own sinks.
UNCHECKED = re.compile(
    r"std::(?:\w+_)?mutex\b|std::(?:lock_guard|scoped_lock|unique_lock|shared_lock)\b|std::condition_variable\b"
)
NO_LOCK_OF_OURS = re.compile(r"//.*|base_sink<std::mutex>")
MUTEX = re.compile(r"^\s*(?:mutable |static )*Mutex (\w+)[ ;]", re.MULTILINE)
THREAD = re.compile(r"\b(?:std::j?thread|Thread) \w+;|std::async\(|\bBackground<")
# Those of the machine, which a simulation cannot run (replicator/scheduler.h).
OF_THE_MACHINE = re.compile(r"std::j?thread\b|std::async\b|std::condition_variable_any\b|steady_clock::now\b|std::random_device\b|sleep_(?:for|until)\b")
SIMULATED = "pipeline/", "elasticsearch/bulk/", "source/outbox/", "service/leadership_loop", "pause"
CLASS = re.compile(r"^(?:class|struct) (\w+)", re.MULTILINE)

# What clang has to find, and nothing else: these comments are its own (-verify).
COUNTER = """
#include "replicator/condition.h"
#include "replicator/mutex.h"
using lockstep::Condition;
using lockstep::Mutex;
using lockstep::MutexLock;
class Counter {
  void holds_nothing() { ++count_; }  // expected-error {{requires holding mutex 'mutex_'}}
  void holds_it_too_short() {
    { const MutexLock lock(mutex_); }
    ++count_;  // expected-error {{requires holding mutex 'mutex_'}}
  }
  void calls() { increase(); }  // expected-error {{requires holding mutex 'mutex_'}}
  void waits() {
    MutexLock lock(mutex_);
    increased_.wait(lock, [this] { return count_ > 0; });  // expected-error {{requires holding mutex 'mutex_'}}
  }
  void locks_twice() {
    const MutexLock lock(mutex_);  // expected-note {{acquired here}}
    const MutexLock again(mutex_);  // expected-error {{already held}}
  }
  void locks_in_the_wrong_order() {
    const MutexLock lock(mutex_);
    const MutexLock first(first_);  // expected-error {{must be acquired before 'mutex_'}}
  }
  void is_right() {
    const MutexLock first(first_);
    MutexLock lock(mutex_);
    increased_.wait(lock, [this]() LOCKSTEP_REQUIRES(mutex_) { return count_ > 0; });
    increase();
    lock.unlock();
    lock.lock();
    ++count_;
  }
  void increase() LOCKSTEP_REQUIRES(mutex_) { ++count_; }

  Mutex first_ LOCKSTEP_ACQUIRED_BEFORE(mutex_);
  Mutex mutex_;
  Condition increased_;
  int count_ LOCKSTEP_GUARDED_BY(mutex_) = 0;
};
"""


def sources() -> dict[str, str]:
    """Each unit of the program, header and source together."""
    units: dict[str, str] = {}
    for file in sorted(PROGRAM.rglob("*.h")) + sorted(PROGRAM.rglob("*.cc")):
        unit = file.relative_to(PROGRAM).with_suffix("").as_posix()
        units[unit] = units.get(unit, "") + file.read_text()
    for of_the_seam in "mutex", "condition", "thread", "background":
        del units[of_the_seam]
    return units


def unchecked(text: str) -> list[str]:
    return UNCHECKED.findall(NO_LOCK_OF_OURS.sub("", text))


def idle_mutexes(text: str) -> list[str]:
    """The members and variables that are a mutex, and that no annotation names."""
    named = re.findall(r"LOCKSTEP_GUARDED_BY\(&?(?:\w+::)*(\w+)\)", text)
    return [name for name in MUTEX.findall(text) if name not in named]


def drawing() -> str:
    return (PROGRAM / "README.md").read_text().partition("## Threads\n")[2].partition("```\n")[2].partition("```")[0]


class Threads(unittest.TestCase):
    def test_every_mutex_is_one_that_clang_checks(self):
        self.assertEqual({unit: found for unit, text in sources().items() if (found := unchecked(text))}, {})

    def test_a_mutex_that_clang_does_not_check_is_found(self):
        for line in "std::mutex mutex_;", "std::shared_mutex mutex_;", "std::condition_variable came_;":
            self.assertEqual(len(unchecked(line)), 1, line)
        for line in "Mutex mutex_;", "std::condition_variable_any came_;", "class Sink : base_sink<std::mutex> {":
            self.assertEqual(unchecked(line), [], line)
        self.assertEqual(idle_mutexes("  Mutex mutex_;\n  int count_ = 0;\n"), ["mutex_"])

    def test_what_is_simulated_uses_nothing_of_the_machine(self):
        found = {
            unit: names for unit, text in sources().items()
            if unit.startswith(SIMULATED) and (names := OF_THE_MACHINE.findall(re.sub(r"//.*", "", text)))
        }
        self.assertEqual(found, {})

    def test_every_mutex_guards_something(self):
        idle = {f"{unit}: {name}" for unit, text in sources().items() for name in idle_mutexes(text)}
        # One reload after the other, and a pause that only the request to stop ends.
        self.assertEqual(idle, {"service/live_config: reloading_", "pause: mutex"})

    def test_every_thread_and_every_mutex_is_in_the_drawing(self):
        drawn = set(re.findall(r"\w+", drawing()))
        missing = [
            unit for unit, text in sources().items()
            if unit != "pause" and (THREAD.search(text) or MUTEX.search(text)) and not drawn & set(CLASS.findall(text))
        ]
        self.assertEqual(missing, [])

    def test_what_the_drawing_shows_exists(self):
        text = "".join(sources().values())
        self.assertEqual([name for name in re.findall(r"\[(\w+)\]", drawing()) if f"class {name} " not in text], [])

    def test_the_drawing_fits_on_a_screen(self):
        self.assertLessEqual(len(drawing().splitlines()), 40)

    def test_what_is_shared_and_used_without_its_mutex_does_not_compile(self):
        clang = shutil.which("clang++-14")
        self.assertIsNotNone(clang, "clang++-14 is missing; run scripts/install")
        options = re.findall(r"-Wthread-safety[\w-]*", (ROOT / "CMakeLists.txt").read_text())
        command = [clang, "-std=c++20", "-fsyntax-only", "-Werror", *options, "-Xclang", "-verify", f"-I{ROOT}", "-xc++", "-"]
        run = subprocess.run(command, input=COUNTER, capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stderr)


if __name__ == "__main__":
    unittest.main()
