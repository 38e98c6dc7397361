"""The portable archive and the container image of a build: they run without what this machine has installed, and the same build gives
the same bytes. LOCKSTEP_BUILD names the build."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOCKSTEP_BUILD", ROOT / "build"))
IMAGE_USER = 65532
DATE = 1_700_000_000  # of the commit, say


def package(output: pathlib.Path) -> list[pathlib.Path]:
    command = [ROOT / "scripts/package", "--build", BUILD, "--output", output, "--version", "0.1.0", "archive", "image"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "SOURCE_DATE_EPOCH": str(DATE)})
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [pathlib.Path(line) for line in done.stdout.splitlines()]


class Portable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-portable-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.archive, cls.image = package(cls.folder / "once")

    def blob(self, tar: tarfile.TarFile, digest: str) -> bytes:
        data = tar.extractfile("blobs/sha256/" + digest.removeprefix("sha256:")).read()
        self.assertEqual("sha256:" + hashlib.sha256(data).hexdigest(), digest)
        return data

    def test_the_archive_runs_with_the_libraries_that_it_brings(self):
        with tarfile.open(self.archive) as tar:
            tar.extractall(self.folder / "archive")
        program = self.folder / "archive" / self.archive.name.removesuffix(".tar.gz") / "bin/lockstep"
        loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for library in ("libpqxx", "libspdlog", "libfmt", "libsimdjson", "libprometheus", "libcpp-httplib", "libtomlplusplus"):
            line = next(line for line in loaded.splitlines() if line.strip().startswith(library))
            self.assertIn("/bin/../lib/lockstep/", line)
        version = subprocess.run([program, "--version"], capture_output=True, text=True, env={}, check=True)
        self.assertTrue(version.stdout.startswith("lockstep "), version)
        self.assertEqual(version.stderr, "")

    def test_the_image_is_what_docker_and_oci_expect_and_runs_as_its_user(self):
        root = self.folder / "image"
        with tarfile.open(self.image) as tar:
            manifest = json.loads(self.blob(tar, json.load(tar.extractfile("index.json"))["manifests"][0]["digest"]))
            config = json.loads(self.blob(tar, manifest["config"]["digest"]))
            docker = json.load(tar.extractfile("manifest.json"))[0]
            self.assertEqual(docker["Config"], "blobs/sha256/" + manifest["config"]["digest"].removeprefix("sha256:"))
            self.assertEqual(docker["RepoTags"], ["lockstep:0.1.0"])
            self.assertEqual(config["config"]["User"], f"{IMAGE_USER}:{IMAGE_USER}")
            (layer,) = manifest["layers"]
            self.blob(tar, layer["digest"])
            with tarfile.open(fileobj=tar.extractfile("blobs/sha256/" + layer["digest"].removeprefix("sha256:")), mode="r:gz") as files:
                files.extractall(root)
        self.assertLess(self.image.stat().st_size, 50 * 1024 * 1024)
        if os.geteuid() != 0:
            self.skipTest("running it needs chroot, and so root")
        done = subprocess.run(
            [shutil.which("chroot"), f"--userspec={IMAGE_USER}:{IMAGE_USER}", root, *config["config"]["Entrypoint"], "health"],
            capture_output=True, text=True, env=dict(line.split("=", 1) for line in config["config"]["Env"]),
        )
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("/etc/lockstep/lockstep.toml", done.stderr)

    def test_the_dates_are_those_of_the_commit_also_without_its_history(self):
        with tarfile.open(self.archive) as tar:
            self.assertEqual({member.mtime for member in tar.getmembers()}, {DATE})

    def test_the_same_build_gives_the_same_bytes(self):
        for first, second in zip((self.archive, self.image), package(self.folder / "twice"), strict=True):
            self.assertEqual(first.read_bytes() == second.read_bytes(), True, first.name)


if __name__ == "__main__":
    unittest.main()
