"""Stored values, as this package knows them. Anything else is an error that names it: a later version may have written it."""
import json
import re

from .errors import LockstepError

MAX_FENCE = 2**52
MOST_EXCEEDED = 2**51  # no token is drawn above a greater one: that would leave no room for those of everybody else
OPEN_STATES = ("pending", "running")
_STATES = (*OPEN_STATES, "done", "aborted")
_MODES = ("shared", "exclusive")


def _unfit(where, field, value):
    return LockstepError(f"{where} has the {field} {json.dumps(value)}, which this package does not know; upgrade it, or correct that")


def state_of(id, entry):
    """Of an operation, as its entry in the journal has it."""
    state = entry.get("state")
    if state not in _STATES:
        raise _unfit(f"the operation {id}", "state", state)
    return state


def holders_of(name, lock):
    """{holder: the end of its lease by the server's clock}; none for a lock in the book's format, which has a holder all the same."""
    if lock.get("lock_type", "exclusive") not in _MODES:
        raise _unfit(f"the lock {name}", "type", lock["lock_type"])
    leases = {}
    for holder, fields in (lock.get("holders") or {}).items():
        until, mode = (fields.get("until"), fields.get("mode")) if isinstance(fields, dict) else (fields, None)
        if not isinstance(until, int) or isinstance(until, bool):
            raise _unfit(f"the holder {holder} of the lock {name}", "lease", until)
        if mode is not None and mode not in _MODES:
            raise _unfit(f"the holder {holder} of the lock {name}", "mode", mode)
        leases[holder] = until
    return leases


def fence_of(where, document):
    """Of a document; one without a fence has 0."""
    fence = document.get("fence")
    if fence is None:
        return 0
    if isinstance(fence, str) and re.fullmatch("-?[0-9]{1,19}", fence):
        fence = int(fence)
    if isinstance(fence, bool) or not isinstance(fence, int) or fence > MAX_FENCE:
        raise LockstepError(f"{where} has the fence {json.dumps(fence)}, which is no fencing token; correct it")
    return fence
