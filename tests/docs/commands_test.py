"""What the documentation says can be typed: each command line is one that the program knows, each configuration one that it loads."""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "rules"))
from links_test import CODE, FENCE, pages, prose  # noqa: E402

PROGRAM = os.environ.get("LOCKSTEP_TEST_PROGRAM", str(ROOT / "build" / "lockstep"))
AWAY = "/nonexistent/lockstep.toml"
SPAN = re.compile(r"(?<!`)`(?:lockstep) ([^`]+)`(?!`)")
WORD = re.compile(r"^[a-z][a-z-]*$")
FILES = re.compile(r'^(\s*(?:\w+_file|mapping|client_cert|client_key)\s*=\s*)"[^"]*"', re.MULTILINE)
VARIABLES = re.compile(r'^\s*\w+_env\s*=\s*"([^"]*)"', re.MULTILINE)
SOURCE = '[source]\nurl = "postgresql://lockstep@/shop"\n'
INDEX = '[[index]]\nalias = "a"\nmapping = "m.json"\nview = "s.v"\n[[index.track]]\ntable = "s.t"\n'


def program(*arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LOCKSTEP_")}
    return subprocess.run([PROGRAM, *arguments], env={**environment, "LOCKSTEP_CONFIG": AWAY}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60)


def blocks(text):
    """The code blocks of a page: the number of the first line, the language, the lines."""
    found, open_block = [], None
    for number, line in enumerate(text.split("\n"), 1):
        mark = FENCE.match(line)
        if open_block is None and mark:
            open_block = (number + 1, line.strip().lstrip("`~").strip(), [])
        elif open_block is not None and mark and line.strip() == mark[1]:
            found.append(open_block)
            open_block = None
        elif open_block is not None:
            open_block[2].append(line)
    return found


def command_of(line):
    """The arguments of the lockstep that a line of a shell runs; None if it runs none."""
    try:
        lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return None  # prose, or a part of something longer
    if words[:3] == ["runuser", "-u", "lockstep"]:
        words = words[words.index("--") + 1:]
    if not words or words[0] not in ("lockstep", "build/lockstep"):
        return None
    end = next((at for at, word in enumerate(words) if set(word) <= set("|&;<>()") or word == "2"), len(words))
    return words[1:end]


def fault_of_command(arguments):
    """None: the program understands them, and only then misses the configuration, the database, or another tool's file."""
    replaced = list(arguments)
    for at, word in enumerate(replaced[:-1]):
        if word in ("-c", "--config"):
            replaced[at + 1] = AWAY
    done = program(*replaced)
    missing = (f"the configuration {AWAY} cannot be read", "connecting to the source:", "--source: there is no file",
               ".conf cannot be read")
    if done.returncode == 0 or any(words in done.stderr for words in missing):
        return None
    return done.stderr.strip().split("\n")[0]


def fault_of_names(text):
    """Of a command in a sentence, which may have holes: its verbs and options are ones of the program."""
    words = re.split(r"[\s\[\]]+", text.split(" -- ")[0].strip())
    options = [word for word in words if word.startswith("-")]
    verbs = []
    for word in words:
        if not WORD.match(word) and "|" not in word:
            break
        verbs.append(word)
    if verbs and verbs[0] in ("tree", "locks", "dead-letters", "deadletters"):
        verbs = verbs[:2]
    else:
        verbs = verbs[:1]
    for verb in verbs[-1].split("|") if verbs else [""]:
        path = [*verbs[:-1], *([verb] if verb else [])]
        done = program(*path, "--help")
        called = " ".join(["lockstep", *path]).replace("deadletters", "dead-letters")
        if f"Usage: {called} " not in done.stdout:  # the help of what is above an unknown verb has another line
            return f"there is no {called}"
        for option in options:
            if not re.search(rf"(^|[\s,]){re.escape(option)}\b", done.stdout):
                return f"{' '.join(verbs)} has no {option}"
    return None


def load(toml, folder):
    """What `print-config` says of a block, completed where it is a part; None: it is loaded."""
    if not re.search(r"^\s*\[source\]", toml, re.MULTILINE):
        toml += "\n" + SOURCE
    elif not re.search(r"^\s*url\s*=", toml, re.MULTILINE):
        toml = re.sub(r"^(\s*\[source\])", r'\1\nurl = "postgresql://lockstep@/shop"', toml, flags=re.MULTILINE)
    if "[[index]]" not in toml:
        toml += "\n" + INDEX
    (folder / "m.json").write_text('{"settings": {}, "mappings": {}}')
    (folder / "secret").write_text("secret")
    toml = FILES.sub(lambda key: f'{key[1]}"{"m.json" if "mapping" in key[1] else "secret"}"', toml)
    toml = re.sub(r'^mapping = "blogposts.json"', 'mapping = "m.json"', toml, flags=re.MULTILINE)
    (folder / "lockstep.toml").write_text(toml)
    variables = {name: "secret" for name in VARIABLES.findall(toml)}
    done = subprocess.run([PROGRAM, "print-config", "-c", folder / "lockstep.toml"], env={**os.environ, **variables},
                          capture_output=True, text=True, timeout=60)
    return None if done.returncode == 0 else done.stderr.strip()


class Documented(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_every_command_line_is_one_of_the_program(self):
        found, count = [], 0
        for page in pages():
            for first, language, lines in blocks(page.read_text()):
                if language not in ("", "sh"):
                    continue
                for number, line in enumerate(lines, first):
                    arguments = command_of(line)
                    if arguments is None:
                        continue
                    count += 1
                    fault = fault_of_command(arguments)
                    if fault:
                        found.append(f"{page.relative_to(ROOT)}:{number}: {line.strip()}: {fault}")
        self.assertGreater(count, 40)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_every_command_in_a_sentence_has_a_verb_and_options_of_the_program(self):
        places = {}
        for page in pages():
            if page.name == "CHANGELOG.md":  # tells of what was
                continue
            for number, line in prose(page.read_text()):
                for text in SPAN.findall(line):
                    places.setdefault(text, f"{page.relative_to(ROOT)}:{number}")
        found = [f"{place}: lockstep {text}: {fault}" for text, place in places.items() if (fault := fault_of_names(text))]
        self.assertGreater(len(places), 30)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_every_configuration_can_be_loaded(self):
        found, count = [], 0
        for page in pages():
            for first, language, lines in blocks(page.read_text()):
                if language != "toml":
                    continue
                count += 1
                fault = load("\n".join(lines) + "\n", self.folder)
                if fault:
                    found.append(f"{page.relative_to(ROOT)}:{first}: {fault}")
        self.assertGreater(count, 4)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_what_the_program_does_not_know_is_found(self):
        for line in ["lockstep frobnicate", "lockstep status --nonsense -c shop.toml", "lockstep tree frob /a", "lockstep wait --timeout"]:
            self.assertIsNotNone(fault_of_command(command_of(line)), line)
        for text in ["frobnicate", "status --nonsense", "locks list|frob", "tree frob"]:
            self.assertIsNotNone(fault_of_names(text), text)
        self.assertIsNotNone(load("[replication]\nnonsense = 1\n", self.folder))

    def test_a_line_of_a_shell_is_cut_where_its_command_ends(self):
        for line, arguments in [
            ("$ lockstep verify -c shop.toml 2>/dev/null | wc -l  # how many", ["verify", "-c", "shop.toml"]),
            ("runuser -u lockstep -- lockstep check", ["check"]),
            ("build/lockstep run &", ["run"]),
            ("lockstep tree put /a < b", ["tree", "put", "/a"]),
            ("systemctl restart lockstep", None),
        ]:
            self.assertEqual(command_of(line), arguments, line)


if __name__ == "__main__":
    unittest.main()
