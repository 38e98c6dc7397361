"""Which locks a change needs, and the ids of their documents."""

_MAX_ID_BYTES = 512


def document_id(name):
    """The name; for a longer one its beginning and a hash, FNV-1a of 64 bits."""
    text, digest = name.encode(), 0xCBF29CE484222325
    if len(text) <= _MAX_ID_BYTES:
        return name
    for byte in text:
        digest = (digest ^ byte) * 0x100000001B3 % 2**64
    return text[: _MAX_ID_BYTES - 17].decode(errors="ignore") + f"#{digest:016x}"


def is_shortened(name):
    return len(name.encode()) > _MAX_ID_BYTES


def checked(name):
    if not name or any(ord(c) < 32 or ord(c) == 127 for c in name):
        raise ValueError(f"the name of a lock is empty or has control characters: {name!r}")
    name.encode()  # raises for anything but text
    return name


def canonical_path(path):
    while len(path) > 1 and path.endswith("/"):
        path = path[:-1]
    if not path.startswith("/"):
        raise ValueError(f"the path does not begin with \"/\": {path!r}")
    if path != "/" and any(part in ("", ".", "..") for part in path[1:].split("/")):
        raise ValueError(f"the path has an empty, \".\" or \"..\" segment: {path!r}")
    return checked(path)


def ancestors(path):
    """"/a/b" → "/", "/a"; none for "/"."""
    if path == "/":
        return []
    parts = path.split("/")[1:-1]
    return ["/"] + ["/" + "/".join(parts[: i + 1]) for i in range(len(parts))]


def lock_set(document=(), tree=(), shared=(), exclusive=(), everything=False):
    """{name: mode}, in the order in which all clients take locks: that of the names' bytes."""
    wanted = {}
    for path in map(canonical_path, tree):
        for above in ancestors(path):
            wanted.setdefault(above, "shared")
        wanted[path] = "exclusive"
    for name in shared:
        wanted.setdefault(checked(name), "shared")
    for name in [*document, *exclusive, *(["global"] if everything else [])]:
        wanted[checked(name)] = "exclusive"
    if not wanted:
        raise ValueError("name what to lock: document, tree, shared, exclusive or everything")
    return dict(sorted(wanted.items(), key=lambda lock: lock[0].encode()))
