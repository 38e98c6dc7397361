"""scripts/hooks/commit-msg: which messages it refuses and what it says; scripts/install --hooks turns it on for a clone."""
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOOK = os.path.join(ROOT, "scripts", "hooks", "commit-msg")
ALLOWED = "x" * 65
SCISSORS = "# ------------------------ >8 ------------------------\n"


class CommitMessage(unittest.TestCase):
    def refusal(self, message):
        """What the hook says to a message; None when it lets it pass."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "COMMIT_EDITMSG")
            with open(path, "w", encoding="utf-8") as file:
                file.write(message)
            run = subprocess.run([HOOK, path], cwd=folder, env=dict(os.environ, LC_ALL="C"), capture_output=True, text=True)
        self.assertEqual(run.stdout, "")
        self.assertIn(run.returncode, (0, 1), run.stderr)
        self.assertEqual(run.returncode == 0, run.stderr == "", run.stderr)
        return run.stderr or None

    def test_a_short_subject_passes(self):
        for message in ["Fix it", "Fix it\n", ALLOWED + "\n", ALLOWED + "\n\nWhy it was wrong.\nHow it was checked.\n"]:
            self.assertIsNone(self.refusal(message), message)

    def test_a_long_subject_is_refused_with_its_length_and_the_remedy(self):
        said = self.refusal(ALLOWED + "y\n\nA body.\n")
        self.assertIn("the subject has 66 characters, 65 are allowed", said)
        self.assertIn(ALLOWED + "|y\n", said)
        self.assertIn("move the rest into the body", said)

    def test_characters_are_counted_and_not_bytes(self):
        self.assertIsNone(self.refusal("ä" * 65))
        self.assertIn("has 66 characters", self.refusal("ä" * 66))

    def test_the_line_after_the_subject_is_blank(self):
        said = self.refusal("Fix it\nso that it works\n")
        self.assertIn('the line after the subject is not blank: "so that it works"', said)
        self.assertIn("Put a blank line between", said)
        self.assertIsNone(self.refusal("Fix it\n  \nso that it works\n"))

    def test_comments_and_the_diff_of_verbose_do_not_count(self):
        self.assertIsNone(self.refusal("\n# a hint\nFix it\n# " + "z" * 80 + "\n"))
        self.assertIsNone(self.refusal("Fix it\n" + SCISSORS + "diff --git a/b a/b\n"))
        self.assertIn("has 66 characters", self.refusal("# a hint\n" + ALLOWED + "y\n"))

    def test_merges_reverts_and_fixups_pass(self):
        for begin in ["Merge branch '", 'Revert "', 'Reapply "', "fixup! ", "squash! ", "amend! "]:
            self.assertIsNone(self.refusal(begin + "y" * 80 + "\nanything\n"), begin)
        self.assertIsNotNone(self.refusal("Merged " + "y" * 80))

    def test_an_empty_message_is_left_to_git(self):
        self.assertIsNone(self.refusal("\n# nothing but a hint\n"))


class TurnedOn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.clone = folder.name
        # The hooks of git that runs this test say where its own repository is.
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environment.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull, GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b",
                                GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b")
        for part in ["install", "lib", "hooks"]:
            copy = shutil.copytree if part != "install" else shutil.copy
            os.makedirs(os.path.join(self.clone, "scripts"), exist_ok=True)
            copy(os.path.join(ROOT, "scripts", part), os.path.join(self.clone, "scripts", part))

    def run_in_clone(self, *arguments):
        return subprocess.run(arguments, cwd=self.clone, env=self.environment, capture_output=True, text=True)

    def test_git_refuses_a_long_subject_after_install_hooks(self):
        self.run_in_clone("git", "init", "--quiet")
        commit = ["git", "commit", "--quiet", "--allow-empty", "--message"]
        installed = self.run_in_clone("scripts/install", "--hooks")
        self.assertEqual(installed.returncode, 0, installed.stderr)
        self.assertIn("has 66 characters", self.run_in_clone(*commit, ALLOWED + "y").stderr)
        self.assertEqual(self.run_in_clone(*commit, ALLOWED).returncode, 0)
        self.assertEqual(self.run_in_clone("scripts/install", "--hooks").returncode, 0)

    def test_hooks_of_somebody_else_stay(self):
        self.run_in_clone("git", "init", "--quiet")
        self.run_in_clone("git", "config", "core.hooksPath", "/somewhere")
        installed = self.run_in_clone("scripts/install", "--hooks")
        self.assertEqual(installed.returncode, 1)
        self.assertIn('core.hooksPath is "/somewhere" already', installed.stderr)
        self.assertEqual(self.run_in_clone("git", "config", "core.hooksPath").stdout, "/somewhere\n")

    def test_a_folder_that_is_no_clone_is_refused(self):
        installed = self.run_in_clone("scripts/install", "--hooks")
        self.assertEqual(installed.returncode, 1)
        self.assertIn("is no git clone", installed.stderr)


if __name__ == "__main__":
    unittest.main()
