"""Locks for data that lives in Elasticsearch, shared with the program `lockstep`. See README.md next to this package."""
from .errors import LeaseLost, LockBusy, LockstepError
from .locks import Lock, Locks

__all__ = ["LeaseLost", "Lock", "LockBusy", "Locks", "LockstepError"]
