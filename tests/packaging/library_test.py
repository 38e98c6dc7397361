"""The C++ library, as it is installed from a build, serves a program outside of this tree. LOCKSTEP_BUILD names the build."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOCKSTEP_BUILD", ROOT / "build"))


def run(*command, **more) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-library-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = cls.folder / "installed"
        run("cmake", "--install", BUILD, "--component", "library", "--prefix", cls.prefix)
        shutil.copytree(ROOT / "examples/cpp", cls.folder / "example")
        cls.build = cls.folder / "build"
        cls.compiler = shutil.which("clang++-14") or "c++"  # the former takes a third of the time
        run("cmake", "-G", "Ninja", "-S", cls.folder / "example", "-B", cls.build, f"-DCMAKE_PREFIX_PATH={cls.prefix}",
            f"-DCMAKE_CXX_COMPILER={cls.compiler}")
        run("cmake", "--build", cls.build)

    def test_no_header_names_the_tree_that_it_was_built_in(self):
        for file in self.prefix.rglob("*"):
            if file.suffix in (".cmake", ".pc", ".h"):
                self.assertNotIn(str(ROOT), file.read_text(), file)

    def test_the_example_holds_a_lock_and_gets_greater_tokens(self):
        url = os.environ.get("LOCKSTEP_TEST_ELASTICSEARCH")
        self.assertTrue(url, "LOCKSTEP_TEST_ELASTICSEARCH is not set; run: scripts/engine start elasticsearch-7.10 --data DIR")
        index = "lockstep_test_" + self.folder.name.removeprefix("lockstep-library-").lower().replace("_", "-")
        config = self.folder / "report.toml"
        config.write_text(f'[elasticsearch]\nurls = ["{url}"]\n[locks]\nindex = "{index}-locks"\n')
        try:
            tokens = [int(run(self.build / "report", config).removeprefix("token ")) for _ in range(2)]
        finally:
            subprocess.run(["curl", "-sS", "-X", "DELETE", f"{url}/{index}-locks,{index}-journal"], capture_output=True)
            subprocess.run(["curl", "-sS", "-X", "DELETE", f"{url}/_index_template/{index}-locks"], capture_output=True)
        self.assertLess(tokens[0], tokens[1])

    def test_pkg_config_names_all_that_a_program_links(self):
        folder = next(self.prefix.rglob("lockstep.pc")).parent
        environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
        flags = run("pkg-config", "--cflags", "--libs", "lockstep", env=environment).split()
        self.assertTrue(any((pathlib.Path(flag[2:]) / "replicator/locks/acquire.h").exists() for flag in flags if flag.startswith("-I")))
        (compiled,) = self.build.rglob("report.cc.o")
        run(self.compiler, compiled, "-o", self.folder / "linked", *flags)


if __name__ == "__main__":
    unittest.main()
