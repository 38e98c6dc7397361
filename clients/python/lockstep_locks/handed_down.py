"""Locks that a process was handed down by the command that has started it: they do not keep it out. The environment variable
LOCKSTEP_LOCK has "OPERATION=TOKEN" of each, with spaces between them, and the journal has to confirm it."""
import os

from .stored import state_of

_VARIABLE = "LOCKSTEP_LOCK"


def operations(find_entry, read_clock):
    """The ids of those that hold their locks right now."""
    confirmed = []
    for word in os.environ.get(_VARIABLE, "").split():
        id, _, token = word.rpartition("=")
        entry = find_entry(id) if id else None
        if entry is not None and state_of(id, entry) == "running" and entry["kind"] == "lock" and str(entry.get("token")) == token \
                and entry["lease_until"] >= read_clock():
            confirmed.append(id)
    return confirmed


def environment(id, token):
    """For a child process that works under this operation's locks."""
    above = os.environ.get(_VARIABLE, "")
    return {"LOCKSTEP_FENCING_TOKEN": str(token), _VARIABLE: f"{above} {id}={token}".lstrip()}
