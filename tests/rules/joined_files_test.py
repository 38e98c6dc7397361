"""What builds that join files (cmake/JoinFiles.cmake) need: a name in an anonymous namespace is unique in its folder."""

import collections
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
JOINED = ["replicator", "tests/unit", "tests/contract", "tests/support"]

NAMESPACE = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
RAW_TEXT = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
# At the left margin. Functions may share a name, though not with the same parameters; an alias may, if it means the same.
DECLARED = re.compile(
    r"^(?:(?:class|struct|enum|enum class) (?P<type>\w+)(?: final)?(?: : [^{]*)? \{"
    r"|using (?P<alias>\w+) = (?P<meant>[^;]*);"
    r"|(?:const|constexpr) [^={(\n]*?\b(?P<constant>k[A-Z]\w*)(?:[=\[{(; ]|$)"
    r"|\w[\w:<>,*& ]*?[ *&](?P<function>\w+)(?P<parameters>\((?:[^()]|\(\))*\)) \{)",
    re.MULTILINE,
)


def conflicts_in(folder):
    """Names with the files that declare them. folder: the text of each file, by its name."""
    files_of = collections.defaultdict(dict)
    for file, source in folder.items():
        for namespace in NAMESPACE.finditer(RAW_TEXT.sub('""', source)):
            for found in DECLARED.finditer(namespace[1]):
                function = (found["function"] or "") + re.sub(r"\s+", " ", found["parameters"] or "")
                files_of[found["type"] or found["alias"] or found["constant"] or function][file] = found["meant"]
    return {
        name: sorted(meant_in)
        for name, meant_in in files_of.items()
        if len(meant_in) > 1 and (None in meant_in.values() or len(set(meant_in.values())) > 1)
    }


class JoinedFiles(unittest.TestCase):
    def test_a_name_is_unique_in_its_folder(self):
        folders = collections.defaultdict(dict)
        for path in [path for below in JOINED for path in (ROOT / below).rglob("*.cc")]:
            folders[path.parent][path.name] = path.read_text()
        for folder, files in folders.items():
            self.assertEqual({}, conflicts_in(files), folder.relative_to(ROOT))

    def test_conflicts_are_found(self):
        one = "namespace {\nclass Reader {\n};\nconst int kMost = 1;\nint of(int n) {\n}\nusing Json = a;\n}  // namespace\n"
        other = "namespace {\nstruct Reader {\n};\nconst A kMost(1);\nint of(A n) {\n}\nusing Json = a;\n}  // namespace\n"
        self.assertEqual({"Reader", "kMost"}, set(conflicts_in({"one.cc": one, "other.cc": other})))
        self.assertIn("of(int n)", conflicts_in({"one.cc": one, "other.cc": one}))
        self.assertIn("Json", conflicts_in({"one.cc": one, "other.cc": one.replace("= a", "= b")}))


if __name__ == "__main__":
    unittest.main()
