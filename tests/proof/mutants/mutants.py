"""Leaves out the program's safeguards, one at a time: each must be found by the tests that its entry in mutants.toml names.

A mutant is one source with one piece of text exchanged. Its object is compiled by the build's own command and put before the
libraries on the link line of the test program (and of lockstep itself, where the tests run it), so nothing in the tree or in its
build folder changes, and a mutant costs a compile and a link.

Called by scripts/mutants, which builds, and starts the servers that a mutant needs.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIST = pathlib.Path(__file__).with_name("mutants.toml")
KEYS = {"name", "safeguard", "file", "code", "becomes", "found_by"}
SERVER_PROGRAMS = {"contract", "integration", "fault"}
RUNS_THE_PROGRAM = {"integration", "fault"}
SIMULATION = "simulate"  # runs so many seeds in place of tests
SIMULATED = re.compile(r"replicator/(pipeline|elasticsearch|service)/|replicator/source/\w+\.cc")  # what the simulation runs


class Wrong(Exception):
    """An entry that means nothing (any more), with its remedy."""


def read_list():
    """The mutants, each with its keys checked."""
    mutants = tomllib.loads(LIST.read_text())["mutant"]
    names = set()
    for mutant in mutants:
        name = mutant.get("name", "a mutant without a name")
        if set(mutant) != KEYS:
            raise Wrong(f"{name}: has the keys {sorted(mutant)}, and needs {sorted(KEYS)}")
        if name in names:
            raise Wrong(f"{name} is there twice")
        names.add(name)
    return mutants


def mutated(mutant):
    """The text of the mutant's file without the safeguard."""
    text = (ROOT / mutant["file"]).read_text()
    times = text.count(mutant["code"])
    if times != 1:
        raise Wrong(f"{mutant['name']}: {mutant['file']} has its code {times} times instead of once; renew the entry in {LIST.name}")
    return text.replace(mutant["code"], mutant["becomes"])


def check(mutants, build):
    """Whether every mutant still means something: its code is there once, and its tests exist."""
    for mutant in mutants:
        mutated(mutant)
        for program, tests in mutant["found_by"].items():
            if program == SIMULATION:
                if not tests.isdigit():
                    raise Wrong(f"{mutant['name']}: {program} takes a number of seeds, not {tests}")
                continue
            listed = subprocess.run(
                [build / "tests" / program, "--gtest_list_tests", f"--gtest_filter={tests}"], capture_output=True, text=True, check=True)
            if not re.search(r"^ +\S", listed.stdout, re.MULTILINE):
                raise Wrong(f"{mutant['name']}: {program} has no test {tests}")


class Build:
    """The commands of a build folder."""

    def __init__(self, folder):
        self.folder = folder
        self.compile_commands = {entry["file"]: entry["command"] for entry in json.loads((folder / "compile_commands.json").read_text())}

    def source_of(self, mutant):
        """The source to compile, and its text: the file itself, or what a statement is embedded in."""
        path = ROOT / mutant["file"]
        if path.suffix == ".cc":
            return str(path), mutated(mutant)
        mutated(mutant)
        for source in self.compile_commands:
            if source.startswith(str(self.folder)) and source.endswith(".cc"):
                text = pathlib.Path(source).read_text()
                if text.count(path.read_text()) == 1:
                    return source, text.replace(path.read_text(), mutated(mutant))
        raise Wrong(f"{mutant['name']}: {mutant['file']} is neither compiled nor embedded")

    def compile(self, mutant, folder):
        """The mutant's object."""
        source, text = self.source_of(mutant)
        changed, object_file = folder / "mutant.cc", folder / "mutant.o"
        changed.write_text(text)
        command = self.compile_commands[source]
        command = re.sub(r" -o \S+", f" -o {object_file}", command).replace(f" -c {source}", f" -c {changed}")
        run_or_fail(shlex.split(command) + ["-w"], self.folder, f"{mutant['name']} does not compile")
        return object_file

    def link(self, target, object_file, folder):
        """`target` with the mutant's object in the place of the right one."""
        lines = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", target], capture_output=True, text=True, check=True).stdout
        command = next(line for line in reversed(lines.splitlines()) if f" -o {target} " in line)
        command = command.removeprefix(": && ").split(" && ")[0]
        program = folder / pathlib.Path(target).name
        command = command.replace(f" -o {target} ", f" {object_file} -o {program} ", 1)
        run_or_fail(shlex.split(command), self.folder, f"{target} cannot be linked with the mutant")
        return program


def run_or_fail(command, folder, failure):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f"{failure}:\n{done.stdout}{done.stderr}")


def first_failure(program, tests, environment, seconds):
    """The name of the first test that fails, or what the first seed has found; or None."""
    is_simulation = program.name == SIMULATION
    options = ["--seeds", tests, "--findings", "1"] if is_simulation else [f"--gtest_filter={tests}", "--gtest_fail_fast", "--gtest_brief=1"]
    try:
        done = subprocess.run([program, *options], env=environment, capture_output=True, text=True, errors="replace", timeout=seconds,
                              check=False)
    except subprocess.TimeoutExpired:
        return f"no end after {seconds} s"
    if done.returncode == 0:
        return None
    if is_simulation:
        finding = re.search(r"^seed \d+: .*", done.stdout, re.MULTILINE)
        return finding[0] if finding else f"exit code {done.returncode}"
    failed = re.search(r"^\[  FAILED  \] (\S+)", done.stdout, re.MULTILINE)
    return failed[1].rstrip(",") if failed else f"exit code {done.returncode}"


def try_mutant(mutant, build, seconds):
    """The test that finds the mutant, or None."""
    with tempfile.TemporaryDirectory(prefix="lockstep-mutant.") as name:
        folder = pathlib.Path(name)
        object_file = build.compile(mutant, folder)
        for target, tests in mutant["found_by"].items():
            environment = dict(os.environ)
            if target in RUNS_THE_PROGRAM:
                environment["LOCKSTEP_TEST_PROGRAM"] = str(build.link("lockstep", object_file, folder))
            program = build.link(f"tests/{target}", object_file, folder)
            found = first_failure(program, tests, environment, seconds)
            if found:
                return f"{target}: {found}"
    return None


def run_by_simulation(mutants, build, seeds, seconds):
    """Whether the simulation finds each mutant, in so many seeds, and by which property."""
    found = 0
    for mutant in mutants:
        if not SIMULATED.match(mutant["file"]):
            print(f"{mutant['name']:<32} its code is not simulated", flush=True)
            continue
        with tempfile.TemporaryDirectory(prefix="lockstep-mutant.") as name:
            folder = pathlib.Path(name)
            program = build.link(f"tests/{SIMULATION}", build.compile(mutant, folder), folder)
            failure = first_failure(program, str(seeds), dict(os.environ), seconds)
        found += failure is not None and not failure.startswith("no end")
        print(f"{mutant['name']:<32} {failure or f'not found in {seeds} seeds'}", flush=True)
    print(f"the simulation finds {found} of {len(mutants)} mutants")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--needs-servers", action="store_true", help="print yes where one of the mutants needs servers")
    parser.add_argument("--targets", action="store_true", help="print what has to be built")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--by-simulation", action="store_true", help="which mutants the simulation finds, after how many seeds")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args()
    mutants = read_list()
    unknown = set(chosen.names) - {mutant["name"] for mutant in mutants}
    if unknown:
        print(f"mutants: there is no mutant {', '.join(sorted(unknown))}; scripts/mutants --list prints them", file=sys.stderr)
        return 2
    mutants = [mutant for mutant in mutants if not chosen.names or mutant["name"] in chosen.names]
    programs = {program for mutant in mutants for program in mutant["found_by"]}
    if chosen.by_simulation:
        programs = {SIMULATION}
    if chosen.needs_servers:
        print("yes" if programs & SERVER_PROGRAMS else "no")
    elif chosen.targets:
        print("\n".join(sorted(programs | {"lockstep"})))
    elif chosen.list:
        for mutant in mutants:
            print(f"{mutant['name']:<32} {mutant['safeguard']}")
    elif chosen.check:
        check(mutants, chosen.build)
        print(f"{len(mutants)} mutants, each with its code and its tests")
    elif chosen.by_simulation:
        return run_by_simulation(mutants, Build(chosen.build), chosen.seeds, chosen.seconds)
    else:
        return run(mutants, Build(chosen.build), chosen.seconds)
    return 0


def require_servers(mutants):
    """A test that fails for want of a server has found nothing."""
    needed = {program for mutant in mutants for program in mutant["found_by"]} & SERVER_PROGRAMS
    if needed and not (os.environ.get("LOCKSTEP_TEST_POSTGRESQL") and os.environ.get("LOCKSTEP_TEST_ELASTICSEARCH")):
        raise Wrong(f"{', '.join(sorted(needed))}: needs servers, which scripts/mutants starts")


def run(mutants, build, seconds):
    require_servers(mutants)
    survivors = []
    for number, mutant in enumerate(mutants, start=1):
        begun = time.monotonic()
        found = try_mutant(mutant, build, seconds)
        if not found:
            survivors.append(mutant["name"])
        print(f"[{number}/{len(mutants)}] {mutant['name']:<32} {'found by ' + found if found else 'SURVIVED: ' + mutant['safeguard']}"
              f" ({time.monotonic() - begun:.0f} s)", flush=True)
    if survivors:
        print(f"{len(survivors)} of {len(mutants)} mutants survived: {', '.join(survivors)}")
        return 1
    print(f"each of {len(mutants)} mutants was found")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        print(f"mutants: {wrong}", file=sys.stderr)
        sys.exit(1)
