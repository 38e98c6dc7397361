"""The errors that a caller must distinguish."""


class LockstepError(Exception):
    """The server is away, or refuses something. `retryable`: trying again may help."""

    def __init__(self, message, retryable=False):
        super().__init__(message)
        self.retryable = retryable


class LockBusy(LockstepError):
    """Others held a lock for longer than the caller would wait. `name` is the lock, `holders` are their ids."""

    def __init__(self, message, name, holders):
        super().__init__(message, retryable=True)
        self.name = name
        self.holders = holders


class LeaseLost(LockstepError):
    """Another holder may have the locks by now: write nothing more."""
