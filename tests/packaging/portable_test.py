"""The portable archive and the container image of a build: they run without what this machine has installed, and the same build gives
the same bytes. LOCKSTEP_BUILD names the build."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOCKSTEP_BUILD", ROOT / "build"))
IMAGE_USER = 65532
# The newest versions of symbols that RHEL 9 has: the C library 2.34, GCC 11's, OpenSSL 3.0, systemd 252, zlib 1.2.11.
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (11, 0, 0), "OPENSSL": (3, 0, 0), "LIBSYSTEMD": (252,),
          "ZLIB": (1, 2, 11), "CURL_OPENSSL": (4,)}
# A libcurl that knows no option of 7.77 or later, as that of RHEL 9: CURLOPT_… of number 306 and above.
OLD_CURL = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
int curl_easy_setopt(void *easy, int option, ...) {
  va_list values;
  va_start(values, option);
  void *value = va_arg(values, void *);
  va_end(values);
  if (option % 10000 >= 306) return 48;  // CURLE_UNKNOWN_OPTION
  return ((int (*)(void *, int, ...))dlsym(RTLD_NEXT, "curl_easy_setopt"))(easy, option, value);
}
void *curl_version_info(int age) {
  static unsigned char info[256];
  memcpy(info, ((void *(*)(int))dlsym(RTLD_NEXT, "curl_version_info"))(age), sizeof info);
  *(unsigned *)(info + 16) = 0x074c00;  // after age and the text of the version
  return info;
}
"""
DATE = 1_700_000_000  # of the commit, say


def package(output: pathlib.Path) -> list[pathlib.Path]:
    command = [ROOT / "scripts/package", "--build", BUILD, "--output", output, "--version", "1.0.0", "archive", "image"]
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
        with tarfile.open(cls.archive) as tar:
            tar.extractall(cls.folder / "archive")
        cls.tree = cls.folder / "archive" / cls.archive.name.removesuffix(".tar.gz")
        cls.program = cls.tree / "bin/lockstep"

    def blob(self, tar: tarfile.TarFile, digest: str) -> bytes:
        data = tar.extractfile("blobs/sha256/" + digest.removeprefix("sha256:")).read()
        self.assertEqual("sha256:" + hashlib.sha256(data).hexdigest(), digest)
        return data

    def test_the_archive_runs_with_the_libraries_that_it_brings(self):
        loaded = subprocess.run(["ldd", self.program], capture_output=True, text=True, check=True).stdout
        for library in ("libpqxx", "libsqlite3", "libspdlog", "libfmt", "libsimdjson", "libprometheus", "libcpp-httplib", "libtomlplusplus"):
            line = next(line for line in loaded.splitlines() if line.strip().startswith(library))
            self.assertIn("/bin/../lib/lockstep/", line)
        version = subprocess.run([self.program, "--version"], capture_output=True, text=True, env={}, check=True)
        self.assertTrue(version.stdout.startswith("lockstep "), version)
        self.assertEqual(version.stderr, "")

    def test_the_archive_asks_for_no_symbol_that_rhel_9_lacks(self):
        files = [path for path in self.tree.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
        self.assertGreater(len(files), 8)
        for path in files:
            listed = subprocess.run(["readelf", "--version-info", "--wide", path], capture_output=True, text=True, check=True).stdout
            needs = listed.partition("Version needs section")[2]
            asked = re.findall(r"Name: ([A-Z_]+)_([\d.]+) ", needs)
            self.assertTrue(asked, path.name)
            for library, version in asked:
                self.assertLessEqual(tuple(map(int, version.split("."))), NEWEST[library], f"{path.name}: {library}_{version}")
        done = subprocess.run([self.program, "--version"], capture_output=True, text=True, env={"LD_BIND_NOW": "1"}, check=True)
        self.assertEqual(done.stderr, "", "every symbol is found under the version that it is asked for")

    def test_the_archive_works_with_the_libcurl_of_rhel_9(self):
        (self.folder / "old_curl.c").write_text(OLD_CURL)
        library = self.folder / "old_curl.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, self.folder / "old_curl.c"], check=True)
        config = self.folder / "locks.toml"
        config.write_text('[elasticsearch]\nurls = ["http://127.0.0.1:9"]\n[locks]\n')  # nobody answers there
        done = subprocess.run([self.program, "locks", "list", "-c", config], capture_output=True, text=True, env={"LD_PRELOAD": str(library)})
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("127.0.0.1 port 9", done.stderr)

    def test_the_image_is_what_docker_and_oci_expect_and_runs_as_its_user(self):
        root = self.folder / "image"
        with tarfile.open(self.image) as tar:
            manifest = json.loads(self.blob(tar, json.load(tar.extractfile("index.json"))["manifests"][0]["digest"]))
            config = json.loads(self.blob(tar, manifest["config"]["digest"]))
            docker = json.load(tar.extractfile("manifest.json"))[0]
            self.assertEqual(docker["Config"], "blobs/sha256/" + manifest["config"]["digest"].removeprefix("sha256:"))
            self.assertEqual(docker["RepoTags"], ["lockstep:1.0.0"])
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
