#!/usr/bin/env python3
"""Prints a bill of materials (CycloneDX 1.5, JSON): the program, and each library that it contains or loads, with version and licence.

Standard input has a line "PACKAGE VERSION" for each of Debian's packages with a library that the program loads. THIRD-PARTY.md has the
licences; a library that it does not name is one that another library loads, and has none here."""

import argparse
import hashlib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What Debian calls them, and what THIRD-PARTY.md does.
NAMES = {
    "libspdlog": "spdlog",
    "libfmt": "{fmt}",
    "libtomlplusplus": "toml++",
    "libcpp-httplib": "cpp-httplib",
    "libprometheus-cpp-core": "prometheus-cpp",
    "libsimdjson": "simdjson",
    "libpqxx": "libpqxx",
    "libpq5": "libpq",
    "libcurl4": "libcurl",
    "zlib1g": "zlib",
    "libsystemd0": "libsystemd",
    "libbrotli1": "brotli",
    "libssl3": "OpenSSL",
    "libc6": "GNU C library",
    "libstdc++6": "GNU libstdc++, libgcc",
    "libgcc-s1": "GNU libstdc++, libgcc",
}


def licences() -> dict[str, str]:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \| [^|]+ \|$", (ROOT / "THIRD-PARTY.md").read_text(), re.MULTILINE)
    return {name: licence for name, licence in rows if name not in ("library", "---")}


def component(name: str, version: str, licence: str | None, purl: str) -> dict:
    found = {"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl}
    if licence:
        found["licenses"] = [{"license": {"name": licence}}]
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("program", type=pathlib.Path)
    arguments.add_argument("--version", required=True)
    arguments.add_argument("--created", required=True, help="RFC 3339")
    arguments.add_argument("--built-with", required=True, help='what `lockstep --version` says: "fmt 9.1.0, spdlog 1.10.0"')
    wanted = arguments.parse_args()
    licence_of = licences()
    components = []
    for line in sys.stdin:
        package, version = line.split()
        known = next((ours for debian, ours in NAMES.items() if re.fullmatch(re.escape(debian) + r"[-0-9.a-z]*", package)), None)
        components.append(component(package, version, licence_of[known] if known else None, f"pkg:deb/debian/{package}@{version}"))
    for text in wanted.built_with.split(", "):
        name, version = text.rsplit(" ", 1)
        if name in licence_of and name in ("nlohmann-json", "CLI11"):  # the others are loaded, and named above
            components.append(component(name, version, licence_of[name], f"pkg:generic/{name.lower()}@{version}"))
    json.dump(
        {
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": {
                "timestamp": wanted.created,
                "component": {
                    "type": "application",
                    "name": "lockstep",
                    "version": wanted.version,
                    "bom-ref": "lockstep",
                    "licenses": [{"license": {"id": "Apache-2.0"}}],
                    "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(wanted.program.read_bytes()).hexdigest()}],
                },
            },
            "components": components,
            "dependencies": [{"ref": "lockstep", "dependsOn": [each["bom-ref"] for each in components]}],
        },
        sys.stdout,
        indent=2,
    )
    print()


if __name__ == "__main__":
    main()
