"""Lets ELF files ask for a function by the version that it had in an older library, so that they run with that library too.

The function has to be the same under both versions, and the newer library has to keep the older version: then nothing changes there.
Every symbol that a file takes in the newer version must be one of those named, or nothing is changed, and the exit code is 1.

Example: python3 older_symbol_version.py GLIBCXX_3.4.30 GLIBCXX_3.4.11 _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE -- FILE…
"""

import struct
import subprocess
import sys

SECTION_OF_NEEDED_VERSIONS = 0x6FFFFFFE  # SHT_GNU_verneed


def elf_hash(name):
    """Of the System V ABI."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        value = (value ^ (value >> 24 & 0xF0)) & 0x0FFFFFFF
    return value


def symbols_of(path, version):
    """The names that a file takes in this version."""
    listed = subprocess.run(["readelf", "--dyn-syms", "--wide", path], check=True, capture_output=True, text=True).stdout
    names = (line.split()[7] for line in listed.splitlines() if len(line.split()) > 7)
    return {name.partition("@")[0] for name in names if name.partition("@")[2] == version}


def sections_of(data):
    """(type, offset, link, entries) of each section of a 64-bit file of this machine's byte order."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not an ELF file of 64 bits, little end first")
    (at,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    headers = (struct.unpack_from("<IIQQQQIIQQ", data, at + number * size) for number in range(count))
    return [(header[1], header[4], header[6], header[7]) for header in headers]


def replace(data, newer, older):
    """How many libraries are asked for `older` instead of `newer`."""
    sections = sections_of(data)
    replaced = 0
    for kind, offset, link, libraries in sections:
        if kind != SECTION_OF_NEEDED_VERSIONS:
            continue
        names = sections[link][1]
        for _ in range(libraries):
            _, versions, _, first, next_library = struct.unpack_from("<HHIII", data, offset)
            at = offset + first
            for _ in range(versions):
                _, _, _, name, next_version = struct.unpack_from("<IHHII", data, at)
                begin = names + name
                if data[begin : data.index(b"\0", begin)] == newer.encode():
                    data[begin : begin + len(older)] = older.encode()
                    struct.pack_into("<I", data, at, elf_hash(older))
                    replaced += 1
                at += next_version
            offset += next_library
    return replaced


def main(newer, older, *rest):
    known, paths = set(rest[: rest.index("--")]), rest[rest.index("--") + 1 :]
    if len(newer) != len(older):
        return "older_symbol_version: both versions need names of the same length"
    for path in paths:
        symbols = symbols_of(path, newer)
        if symbols - known:
            return f"older_symbol_version: {path} needs {', '.join(sorted(symbols - known))} in the version {newer}"
        if not symbols:
            continue
        with open(path, "r+b") as file:
            data = bytearray(file.read())
            if replace(data, newer, older) != 1:
                return f"older_symbol_version: {path} does not name {newer} once"
            file.seek(0)
            file.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
