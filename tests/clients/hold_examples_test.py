"""examples/locks on a real engine: `lockstep lock --hold` from Python, Node, Java and Go, and what befalls it."""
import os
import shutil
import subprocess
import tempfile
import unittest

from lock_world import PATIENCE, PROGRAM, ROOT, LockWorld

EXAMPLES = os.path.join(ROOT, "examples", "locks")
TOOLS = {"node": "nodejs", "javac": "default-jdk-headless", "go": "golang-go"}
ENDLESS = 100_000


class HoldExamplesTest(LockWorld):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for tool, package in TOOLS.items():
            if shutil.which(tool) is None:
                raise cls.failureException(f"there is no {tool}; scripts/install installs it ({package})")
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        os.symlink(PROGRAM, os.path.join(folder, "lockstep"))
        config = cls.enterClassContext(cls.configuration("10s"))  # renewed, or found lost, every third of it
        cls.environment = {**os.environ, "LOCKSTEP_CONFIG": config.name, "PATH": f"{folder}:{os.environ['PATH']}"}
        for command in (["javac", "-d", folder, os.path.join(EXAMPLES, "Report.java")],
                        ["go", "build", "-o", os.path.join(folder, "report"), os.path.join(EXAMPLES, "report.go")]):
            subprocess.run(command, cwd=folder, check=True)
        cls.examples = {
            "python": ["python3", os.path.join(EXAMPLES, "report.py")],
            "node": ["node", os.path.join(EXAMPLES, "report.mjs")],
            "java": ["java", "-cp", folder, "Report"],
            "go": [os.path.join(folder, "report")]}

    def start(self, example, report, chapters):
        process = subprocess.Popen([*self.examples[example], self.engine, f"{self.name}-{report}", str(chapters)],
                                   env=self.environment, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def chapters_of(self, report):
        """None, too, while their index is being made."""
        status, found = self.server.request("reading", "GET", f"/{self.name}-{report}/_doc/1", accepted=(404, 503))
        return found["_source"]["chapters"] if status == 200 else []

    def lease_of(self, report):
        _, lock = self.server.request("reading", "GET", f"/{self.index}/_doc/{self.name}-{report}")
        return [holder["until"] for holder in lock["_source"]["holders"].values()]

    def test_each_writes_its_report_alone(self):
        processes = [self.start(example, "same", 2) for example in self.examples]
        for process in processes:
            _, words = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, words)
        self.assertEqual(self.chapters_of("same"), [1, 2] * len(processes))
        self.assertEqual(self.locks_list(), "")

    def test_the_lease_is_renewed_and_its_loss_ends_the_work(self):
        processes = {example: self.start(example, f"lost-{example}", ENDLESS) for example in self.examples}
        first = {}
        for example in self.examples:
            self.wait_until(lambda: self.chapters_of(f"lost-{example}"), example)
            first[example] = self.lease_of(f"lost-{example}")
        for example in self.examples:
            self.wait_until(lambda: self.lease_of(f"lost-{example}") > first[example], example)
        for example in self.examples:
            self.assertEqual(self.lockstep("locks", "break", f"{self.name}-lost-{example}", "--yes").returncode, 0)
        for example, process in processes.items():
            _, words = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 1, example)
            self.assertIn("its lock was broken by", words)

    def test_who_was_deposed_writes_nothing(self):
        later = {"fence": 2**52, "chapters": ["of somebody who held the lock later"]}
        for example in self.examples:
            self.put(later, index=f"late-{example}")
        processes = {example: self.start(example, f"late-{example}", ENDLESS) for example in self.examples}
        for example, process in processes.items():
            _, words = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 1, example)
            self.assertIn("somebody has written under a later lock", words)
            self.assertEqual(self.document(index=f"late-{example}"), later)

    def test_the_lock_ends_with_who_holds_it(self):
        processes = {example: self.start(example, f"dead-{example}", ENDLESS) for example in self.examples}
        for example, process in processes.items():
            self.wait_until(lambda: self.chapters_of(f"dead-{example}"), example)
            process.kill()
            process.wait()
        self.wait_until(lambda: self.locks_list() == "", "the locks of the dead are free")

    def test_what_lockstep_refuses_ends_the_work_with_its_exit_code(self):
        for example, command in self.examples.items():
            refused = subprocess.run([*command, self.engine, "", "1"], env=self.environment, capture_output=True, text=True)
            self.assertEqual(refused.returncode, 2, f"{example}: {refused.stderr}")
            self.assertIn("the name of a lock", refused.stderr)


if __name__ == "__main__":
    unittest.main()
