#!/usr/bin/env python3
"""Writes docs/command-line.md from what `lockstep --help` and the help of each command print.

Usage: tests/docs/command_line.py [--check]

--check changes nothing, and fails when the page would change. The program is $LOCKSTEP_TEST_PROGRAM, or build/lockstep.
"""
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "command-line.md"
PROGRAM = os.environ.get("LOCKSTEP_TEST_PROGRAM", str(ROOT / "build" / "lockstep"))
COLUMN = 30  # where descriptions begin
MANY = 3  # an option of so many commands is described once, above them
MOST = 8  # of so many, their names are left out
COMMAND = "tests/docs/command_line.py"
INTRODUCTION = """# Command line

<!-- made by {command} -->

`lockstep COMMAND --help` prints the same; `lockstep --completion SHELL` is for bash, zsh, fish.

| exit code | meaning |
|---|---|
{codes}

## Options of several commands
"""


def help_of(*path):
    """What `lockstep … --help` prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LOCKSTEP_")}
    done = subprocess.run([PROGRAM, *path, "--help"], env=environment, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise SystemExit(f"{PROGRAM} {' '.join(path)} --help: {done.stderr.strip()}")
    return done.stdout


def sections(text):
    """The lines in front of the first heading, and of each heading its entries: (names, description)."""
    head, found, entries = [], {}, None
    lines = text.rstrip("\n").split("\n")
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else ""
        heading = re.match(r"^(\w[\w ]*):$", line)
        if heading:
            entries = found.setdefault(heading[1], [])
        elif entries is None:
            head.append(line)
        elif line.startswith(" " * COLUMN):
            entries[-1] = (entries[-1][0], f"{entries[-1][1]} {line.strip()}".strip())
        elif line.startswith("  ") and following.startswith(" " * COLUMN):
            entries.append((line.strip(), ""))
        elif line.startswith("  "):
            wide = line.encode()
            entries.append((wide[:COLUMN].decode(errors="ignore").strip(), wide[COLUMN:].decode(errors="ignore").strip()))
        elif line:  # what follows the last list
            entries = None
            head.append(line)
    return [line for line in head if line], found


class Help:
    """The help of one command."""

    def __init__(self, *path):
        self.path = path
        head, found = sections(help_of(*path))
        found.pop("Example", None)
        self.summary = head[0]
        self.notes = head[2:]
        usage = head[1].removeprefix(" ".join(["Usage: lockstep", *path])).replace("[OPTIONS]", "").split()
        self.arguments = list(zip(usage, [description for _, description in found.pop("Arguments", [])]))
        self.options = [(re.sub(r" \(?not with:? .*$", "", names), description) for entries in found.values()
                        for names, description in entries if names.startswith("-") and "--help" not in names]
        self.groups = {name: [entry[0] for entry in entries] for name, entries in found.items() 
                       if entries and not entries[0][0].startswith("-")}
        self.below = [Help(*path, name) for names in self.groups.values() for name in names]


def all_below(help_):
    for each in help_.below:
        yield each
        yield from all_below(each)


def sentence(text):
    return text if not text or text[-1] in ".!?" else text + "."


def listed(text, depth=0):
    """An item of a list, wrapped outside of code."""
    kept = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), text)
    return "\n".join(textwrap.wrap(kept, 120, initial_indent="  " * depth + "- ", subsequent_indent="  " * (depth + 1),
                                   break_long_words=False, break_on_hyphens=False)).replace("\0", " ")


def item(entry, depth=0):
    """An option or argument: "-c,--config FILE=F (or $NAME)"."""
    names, description = entry
    names = re.sub(r",(?=-)", ", ", names)
    environment = re.search(r" \((?:or \$|Env:)(\w+)\)", names)
    names = re.sub(r" \.\.\.$", " …", names.replace(environment[0], "") if environment else names)
    return listed(f"`{names}`{f', or `${environment[1]}`' if environment else ''}: {sentence(description)}", depth)


def names_of(commands):
    """The commands of an option that several have: "`check`, `plan`", "`dead-letters …`", "most commands"."""
    above = {command.rpartition(" ")[0] for command in commands}
    if len(above) == 1 and "" not in above:
        return f"`{above.pop()} …`"
    return "Most commands" if len(commands) >= MOST else ", ".join(f"`{command}`" for command in commands)


def shared_options(shared):
    """Those of the same commands together."""
    together = {}
    for entry, commands in shared.items():
        together.setdefault(names_of(commands), []).append(item(entry))
    return "".join(f"\n{names}:\n\n" + "\n".join(items) + "\n" for names, items in together.items())


def explains(entry):
    """An option; or an argument that means more than its name: not "PATH: The file"."""
    return entry[0].startswith("-") or len(entry[1].split()) > 4


def section_of(help_, shared):
    """A command below a heading, the commands below it in a list."""
    lines = [item(entry) for entry in help_.arguments + help_.options if entry not in shared]
    for each in help_.below:
        own = [name for name, _ in each.arguments]
        lines.append(listed(f"`{' '.join([*each.path[1:], *own])}`: {sentence(each.summary)}"))
        lines += [item(entry, 1) for entry in each.arguments + each.options if entry not in shared and explains(entry)]
    return "\n".join([f"\n### {' '.join(help_.path)}\n", sentence(help_.summary), "", *lines]).rstrip() + "\n"


def exit_codes(notes):
    (text,) = re.findall(r"Exit codes: (.*)\.", " ".join(notes))
    return "\n".join(f"| {code} | {meaning} |" for code, meaning in (each.split(" ", 1) for each in text.split(", ")))


def page():
    program = Help()
    users = {}
    for each in all_below(program):
        for entry in each.arguments + each.options:
            users.setdefault(entry, []).append(" ".join(each.path))
    shared = {entry: commands for entry, commands in users.items() if len(commands) >= MANY}
    text = INTRODUCTION.format(command=COMMAND, codes=exit_codes(program.notes)) + shared_options(shared)
    for name, names in program.groups.items():
        text += f"\n## {name}\n"
        text += "".join(section_of(each, shared) for each in program.below if each.path[0] in names)
    return re.sub(r"\n{3,}", "\n\n", text)


def main():
    made = page()
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != made:
            raise SystemExit(f"docs/command-line.md is not what --help prints; run {COMMAND}")
    elif sys.argv[1:]:
        raise SystemExit(__doc__)
    else:
        PAGE.write_text(made)


if __name__ == "__main__":
    main()
